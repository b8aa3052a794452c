import type { Former } from '../../order/letter-id.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { Entry } from '../entry.ts';
import { createOperatorActions } from '../operator-actions.ts';
import { REMEMBERED } from './batch-control.ts';

/**
 * An order that a person discarded or corrected before Redis lost that. `at`: milliseconds of ledger time. Of an order without
 * items that are known, the content is empty: it is any order of this number in the file.
 */
export type KeptDiscard = { was: Was; at: number; who: string };

type Was = Pick<Former, 'number' | 'content'>;
type Place = { redis: Redis; keys: Keys };
type By = Omit<KeptDiscard, 'was'>;

/** Keeps what people discarded in a batch, so that it is not sent where its file is read again. Repeatable. */
export async function keepDiscards(
  batch: string,
  kept: readonly KeptDiscard[],
  { redis, keys }: Place,
): Promise<void> {
  const fields = kept.map(({ was, ...by }) => [fieldOf(was), JSON.stringify(by)] as const);
  if (fields.length === 0) return;
  const key = keys.discards(batch);
  await redis.multi().hset(key, Object.fromEntries(fields)).expire(key, REMEMBERED).exec();
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

function fieldOf({ number, content }: Was): string {
  return JSON.stringify([number, content]);
}
