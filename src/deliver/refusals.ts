import type { Seen } from '../api/classify.ts';

/** So many of a batch's last `of` answers, alike, hold the batch; `share` is a fraction. */
export type RefusalRule = { share: number; of: number };

export type Refusals = {
  /** Takes one answer in; gives the reason when the batch is to be held for it. */
  take(batch: string, seen: Seen): string | undefined;
  /** Begins anew for a batch that a person released. */
  forget: (batch: string) => void;
};

/** Batches whose answers are remembered at a time. */
const MOST = 1000;

/**
 * Watches for a batch whose orders are refused alike: then it is the mapping that is wrong and not the orders,
 * and forty refusals tell as much as ten thousand.
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

/** What refusals of one kind share: their words without what names one order. */
function wordingOf({ code, message }: { code: string; message: string }): string {
  return `${code} ${message.replace(/"[^"]*"|'[^']*'/g, '…').replace(/\S*\d\S*/g, '…')}`;
}
