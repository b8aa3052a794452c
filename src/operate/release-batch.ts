import type { Batch } from '../ledger/batches.ts';
import { ordersUnderWay } from '../ledger/orders-under-way.ts';
import type { OperatorContext } from './operator-context.ts';

/** Milliseconds until every daemon has noticed that the batch is released. */
const NOTICED = 1_500;

/** Releases a held batch: its orders are due at once. False if it was not held. */
export async function releaseBatch({ batch }: Batch, { batches, ledger, store }: OperatorContext): Promise<boolean> {
  const { redis, keys, time } = store;
  if (!(await batches.release(batch))) return false;
  for await (const entries of ordersUnderWay([batch], { ledger, redis, keys })) {
    const waiting = entries.filter(({ state }) => state === 'queued' || state === 'retry');
    const due = time.now() + NOTICED;
    await Promise.all(waiting.map(({ order }) => ledger.postpone(order.purchaseOrderNumber, due)));
  }
  return true;
}
