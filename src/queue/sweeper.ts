import { ordersSwept } from '../events/delivery.ts';
import { type Entry, versionAfter } from '../ledger/entry.ts';
import { aloneOf } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { next, type Policy, SWEEP_AFTER } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { OrderQueue } from './queue.ts';

type SweeperDeps = {
  ledger: Ledger;
  queue: OrderQueue;
  time: RedisTime;
  policy: Policy;
  log: Log;
  /** Orders of a held batch stay where they are. */
  isHeld: (batch: string) => boolean;
};

const MOST = 500;
/** Enough for all that admission lets wait; more comes with the next tick. */
const ROUNDS = 50;

/**
 * A sweeper looks after orders that should have moved on: it puts back what the queue lost, whatever the reason,
 * and calls an attempt whose deadline is over unknown. Several sweepers do no harm: the ledger lets one win.
 */
export function createSweeper({ ledger, queue, time, policy, log, isHeld }: SweeperDeps) {
  /** Looks at all orders whose time is over, some hundred at once. */
  async function tick(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = await ledger.numbersDue('due', time.now(), MOST);
      if (numbers.length > 0) await sweep(numbers);
      if (numbers.length < MOST) return;
    }
  }

  async function sweep(numbers: readonly string[]): Promise<void> {
    const known = await ledger.lookup(numbers);
    const entries = known.flatMap((one) => (one.kind === 'open' ? [one.entry] : []));
    await Promise.all(entries.filter(({ state }) => state === 'sending').map(lapse));
    await putBackLost(entries.filter(({ state }) => state === 'queued' || state === 'retry'));
  }

  async function lapse(entry: Entry): Promise<void> {
    await ledger.take(entry, next(entry, { kind: 'lapsed', at: time.now() }, policy));
  }

  async function putBackLost(entries: readonly Entry[]): Promise<void> {
    const ids = [...new Set(entries.map(({ job }) => job))];
    const alive = await queue.has(ids);
    const held = new Set(entries.filter(({ batch }) => isHeld(batch)).map(({ job }) => job));
    const lost = new Set(ids.filter((id, i) => alive[i] !== true && !held.has(id)));
    await Promise.all(
      entries
        .filter(({ job }) => !lost.has(job))
        .map(({ order }) => ledger.postpone(order.purchaseOrderNumber, time.now() + SWEEP_AFTER)),
    );
    const back = await Promise.all(entries.filter(({ job }) => lost.has(job)).map(putBack));
    const orders = back.filter(Boolean).length;
    if (orders > 0) ordersSwept(log, { orders });
  }

  async function putBack(entry: Entry): Promise<boolean> {
    const at = time.now();
    const again = { ...entry, version: versionAfter(entry.version, at), job: queue.nameJob() };
    if (!(await ledger.take(entry, { kind: 'move', entry: again, due: at + SWEEP_AFTER }))) return false;
    await queue.add([aloneOf(again)]);
    return true;
  }

  return { tick };
}
