import type { Former } from '../../order/digest.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import type { Entry } from '../entry.ts';

/** An order that a person discarded while its file was in progress. `at`: milliseconds of ledger time. */
export type KeptDiscard = { was: Former; at: number; who: string };

type Place = { redis: Redis; keys: Keys };

/** Keeps what people discarded in a batch that Redis may have from before that, so that it is not sent. Repeatable. */
export async function keepDiscards(batch: string, kept: readonly KeptDiscard[], { redis, keys }: Place): Promise<void> {
  const fields = kept.map(({ was, at, who }) => [fieldOf(was), JSON.stringify({ at, who })] as const);
  if (fields.length > 0) await redis.hset(keys.discards(batch), Object.fromEntries(fields));
}

/** Who discarded orders of a batch before Redis lost that, by their numbers. An order with other content is another one. */
export async function discardsOf(
  batch: string,
  entries: readonly Entry[],
  { redis, keys }: Place,
): Promise<ReadonlyMap<string, string>> {
  if (entries.length === 0) return new Map();
  const fields = entries.map(({ order, digest }) => fieldOf({ number: order.purchaseOrderNumber, content: digest }));
  const texts = await redis.hmget(keys.discards(batch), ...fields);
  const whose = (text: string) => (JSON.parse(text) as KeptDiscard).who;
  return new Map(
    entries.flatMap(({ order }, i) => (texts[i] ? [[order.purchaseOrderNumber, whose(texts[i])] as const] : [])),
  );
}

function fieldOf({ number, content }: Former): string {
  return JSON.stringify([number, content]);
}
