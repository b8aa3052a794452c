import type { Clock } from '../core/clock.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ordersUnderWay } from '../ledger/orders-under-way.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

type Deps = { batches: Pick<Batches, 'held'>; ledger: Pick<Ledger, 'lookup'>; redis: Redis; keys: Keys; clock: Clock };

const LOOK_AGAIN = 200;
/** Until every daemon has noticed that a batch is free; before, it would hand the orders back. */
const NOTICED = 1_000;

/** Keeps held batches out of the way of the others: their orders take no room in the queue, their files wait. */
export function createHeldBack({ batches, ledger, redis, keys, clock }: Deps) {
  let count = 0;

  /** Counts anew how many orders wait for a person's word. */
  async function tick(): Promise<void> {
    const held = await batches.held();
    let found = 0;
    if (held.length > 0) {
      for await (const entries of ordersUnderWay(held, { redis, keys, ledger })) found += entries.length;
    }
    count = found;
  }

  /** Waits while the batch is held; false when the signal came first. */
  async function released(batch: string, signal: AbortSignal): Promise<boolean> {
    let waited = false;
    while (!signal.aborted && (await batches.held()).includes(batch)) {
      waited = true;
      await clock.sleep(LOOK_AGAIN, signal);
    }
    if (waited) await clock.sleep(NOTICED, signal);
    return !signal.aborted;
  }

  return { tick, released, orders: () => count };
}
