import type { Former } from '../../order/digest.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { Entry } from '../entry.ts';
import { createOperatorActions } from '../operator-actions.ts';

/**
 * An order that a person discarded while its file was in progress. `at`: milliseconds of ledger time. Of an order without
 * items that are known, the content is empty: it is any order of this number in the file. `line`: that of its result; older
 * versions did not keep it.
 */
export type KeptDiscard = { was: Former; at: number; who: string; line?: number };

type Place = { redis: Redis; keys: Keys };
type By = Omit<KeptDiscard, 'was'>;

/** Keeps what people discarded in a batch, so that it is not sent where Redis comes back from before that. Repeatable. */
export async function keepDiscards(
  batch: string,
  kept: readonly KeptDiscard[],
  { redis, keys }: Place,
): Promise<void> {
  const fields = kept.map(({ was, ...by }) => [fieldOf(was), JSON.stringify(by)] as const);
  if (fields.length > 0) await redis.hset(keys.discards(batch), Object.fromEntries(fields));
}

/** All that is kept of a batch. */
export async function keptDiscards(batch: string, { redis, keys }: Place): Promise<KeptDiscard[]> {
  const kept = Object.entries(await redis.hgetall(keys.discards(batch)));
  return kept.map(([field, text]) => {
    const [number, content] = JSON.parse(field) as [number: string, content: string];
    return { was: { number, content }, ...(JSON.parse(text) as By) };
  });
}

/**
 * Who discarded orders of a batch before Redis lost that, by their numbers. An order with other content is another
 * one. One that a person wanted sent since is not discarded any more.
 */
export async function discardsOf(
  batch: string,
  entries: readonly Entry[],
  { redis, keys }: Place,
): Promise<ReadonlyMap<string, string>> {
  if (entries.length === 0) return new Map();
  const fields = entries.flatMap(({ order: { purchaseOrderNumber: number }, digest }) => [
    fieldOf({ number, content: digest }),
    fieldOf({ number, content: '' }),
  ]);
  const texts = await redis.hmget(keys.discards(batch), ...fields);
  const { operatorActions } = createOperatorActions({ redis, keys });
  const found = entries.map(async ({ order: { purchaseOrderNumber: number } }, i) => {
    const text = texts[2 * i] ?? texts[2 * i + 1];
    if (!text) return [];
    const { at, who } = JSON.parse(text) as By;
    const since = (await operatorActions(number)).filter((action) => action.at > at);
    return since.some(({ what }) => what !== 'discarded' && what !== 'cancelled')
      ? []
      : [[number, who] as const];
  });
  return new Map((await Promise.all(found)).flat());
}

/** One line of the notes beside a report. A line that was cut off says nothing. */
export function keptDiscardIn(text: string): KeptDiscard[] {
  try {
    const { was, at, who, line } = JSON.parse(text) as { [key in keyof KeptDiscard]: unknown };
    const { number, content } = was as { number: unknown; content: unknown };
    const isTime = typeof at === 'number' && !Number.isNaN(new Date(at).getTime());
    const isNote = [number, content, who].every((one) => typeof one === 'string') && isTime;
    const note = {
      was: { number: String(number), content: String(content) },
      at: Number(at),
      who: String(who),
    };
    return isNote ? [{ ...note, ...(typeof line === 'number' && { line }) }] : [];
  } catch {
    return [];
  }
}

function fieldOf({ number, content }: Former): string {
  return JSON.stringify([number, content]);
}
