import type { Batch, Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ordersUnderWay } from '../ledger/orders-under-way.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';

type Deps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys; time: RedisTime };

/** Until every daemon has noticed that the batch is free. */
const NOTICED = 1_500;

/** Lets a held batch go on, at once: its orders are due now. False when it was not held. */
export async function releaseBatch({ batch }: Batch, deps: Deps): Promise<boolean> {
  if (!(await deps.batches.release(batch))) return false;
  for await (const entries of ordersUnderWay([batch], deps)) {
    const waiting = entries.filter(({ state }) => state === 'queued' || state === 'retry');
    const due = deps.time.now() + NOTICED;
    await Promise.all(waiting.map(({ order }) => deps.ledger.postpone(order.purchaseOrderNumber, due)));
  }
  return true;
}
