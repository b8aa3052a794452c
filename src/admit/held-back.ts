import { type Batches, namedBatch } from '../ledger/batches/batches.ts';
import { readOpenDeadLetters } from '../ledger/dead-letters.ts';
import { correctedBy, idOf } from '../order/letter-id.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import { type InvalidOrder, keptAsRead, type ValidOrder } from '../order/order.ts';
import type { Store } from '../redis/store.ts';

type Deps = { store: Pick<Store, 'redis' | 'keys'>; batches: Pick<Batches, 'find'> };

/**
 * Of the orders of a correction, holds those whose number waits for a person in a dead letter of which they have no row: they would
 * replace it.
 */
export async function heldBeside(
  orders: readonly ValidOrder[],
  { store: { redis, keys }, batches }: Deps,
): Promise<ReadonlyMap<ValidOrder, InvalidOrder>> {
  const held = new Map<ValidOrder, InvalidOrder>();
  for (const order of orders) {
    const from = correctedBy(order.records);
    const isMeant = order.records.every(({ isConfirmed }) => isConfirmed);
    if (isMeant || from.some(({ number }) => number === order.number)) continue;
    const open = readOpenDeadLetters((await redis.hget(keys.waiting, order.number)) ?? '');
    const [other] = open;
    if (!other || open.some((one) => from.some(({ id }) => id === idOf(one.batch, one.ordinal))))
      continue;
    held.set(order, heldBack(order, await namedBatch(other.batch, batches)));
  }
  return held;
}

function heldBack(valid: ValidOrder, from: NamedBatch): InvalidOrder {
  const { ordinal, number, records, order, place } = valid;
  const fault = { code: 'rows-left-out', facts: { number, from } } as const;
  const read = order.items.map(({ articleCode, quantity }) => ({
    articleCode,
    quantity: String(quantity),
  }));
  const problems = [{ ...place, ...fault, field: '', value: number }];
  return { ordinal, number, place, records, valid: false, problems, ...keptAsRead(read) };
}
