import type { Seen } from '../api/classify.ts';

/** A batch is held when a `share` (a fraction) of its last `of` answers refuse alike. */
export type RefusalRule = { share: number; of: number };

export type Refusals = {
  /** Records an answer; returns the reason when the batch is to be held. */
  take(batch: string, seen: Seen): string | undefined;
  /** Forgets the answers of a batch that a person released. */
  forget: (batch: string) => void;
};

/** How many batches are remembered. */
const MOST = 1000;

/**
 * Watches for a batch whose orders are refused alike: its mapping is wrong, not its orders, and forty refusals show that
 * as well as ten thousand.
 */
export function watchRefusals({ share, of }: RefusalRule): Refusals {
  const answers = new Map<string, string[]>();

  return {
    take(batch, seen) {
      if (seen.kind !== 'accepted' && seen.kind !== 'refused') return undefined;
      const last = answers.get(batch) ?? [];
      answers.delete(batch);
      answers.set(batch, last);
      if (answers.size > MOST) answers.delete(answers.keys().next().value ?? '');
      last.push(seen.kind === 'refused' ? wordingOf(seen.said) : '');
      if (last.length > of) last.shift();
      if (seen.kind === 'accepted' || last.length < of) return undefined;
      const alike = last.filter((one) => one === last.at(-1)).length;
      return alike >= share * of ? `${alike} of the last ${of} answers refuse alike: ${seen.said.message}` : undefined;
    },
    forget: (batch) => void answers.delete(batch),
  };
}

/** The message that refusals of one kind share, without parts that identify an order. */
function wordingOf({ code, message }: { code: string; message: string }): string {
  return `${code} ${message.replace(/"[^"]*"|'[^']*'/g, '…').replace(/\S*\d\S*/g, '…')}`;
}
