import type { Entry } from '../ledger/entry.ts';
import { aloneOf } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { next } from '../ledger/state-machine/next.ts';
import { isSendable, type Policy, SWEEP_AFTER } from '../ledger/state-machine/step.ts';
import { ordersSwept } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { RedisTime } from '../redis/time.ts';
import type { OrderQueue } from './queue.ts';

type SweeperDeps = {
  ledger: Ledger;
  queue: OrderQueue;
  time: RedisTime;
  policy: Policy;
  log: Log;
  /** Orders of a held batch wait. */
  isHeld: (batch: string) => boolean;
  /** Sends the order that all others wait for; false for any other. */
  sendFirst: (entry: Entry) => boolean;
};

const MOST = 500;
/** Enough for all orders that admission allows to wait; the next tick takes more. */
const ROUNDS = 50;

/**
 * Processes orders that are due: queues retries, restores what the queue lost, and marks an attempt past its deadline as
 * unknown. Several sweepers may run at once: the ledger accepts the change of one of them.
 */
export function createSweeper({
  ledger,
  queue,
  time,
  policy,
  log,
  isHeld,
  sendFirst,
}: SweeperDeps) {
  /** Looks at all orders that are due, a few hundred at a time. */
  async function tick(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const now = time.now();
      const [due, parked] = await Promise.all([
        ledger.numbersDue('due', now, MOST),
        ledger.numbersDue('parked', now, MOST),
      ]);
      const numbers = [...due, ...parked];
      if (numbers.length > 0) await sweep(numbers);
      if (numbers.length < MOST) return;
    }
  }

  async function sweep(numbers: readonly string[]): Promise<void> {
    const known = await ledger.lookup(numbers);
    const entries = known.flatMap((one) => (one.kind === 'open' ? [one.entry] : []));
    // The process that still waits for the answer knows more than a deadline.
    const isOver = ({ state, order }: Entry) =>
      state === 'sending' && !ledger.inFlight.has(order.purchaseOrderNumber);
    await Promise.all(entries.filter(isOver).map(lapse));
    await handOut(entries.filter((one) => isSendable(one) && !sendFirst(one)));
  }

  async function lapse(entry: Entry): Promise<void> {
    await ledger.take(entry, next(entry, { kind: 'lapsed', at: time.now() }, policy));
  }

  /** Adds a job for an order that has none in the queue: its retry is due, or the queue lost the job. */
  async function handOut(entries: readonly Entry[]): Promise<void> {
    const ids = [...new Set(entries.map(({ job }) => job))];
    const alive = await queue.has(ids);
    const carried = new Set(ids.filter((_, i) => alive[i]));
    const stays = ({ job, batch }: Entry) => carried.has(job) || isHeld(batch);
    const wait = ({ batch, order: { purchaseOrderNumber: number } }: Entry) =>
      isHeld(batch)
        ? ledger.park(number, time.now())
        : ledger.postpone(number, time.now() + SWEEP_AFTER);
    await Promise.all(entries.filter(stays).map(wait));
    const without = entries.filter((entry) => !stays(entry));
    const handed = await Promise.all(without.map(putBack));
    const lost = without.filter(({ state }, i) => state === 'queued' && handed[i]).length;
    if (lost > 0) ordersSwept(log, { orders: lost });
  }

  async function putBack(entry: Entry): Promise<boolean> {
    const step = next(entry, { kind: 'requeue', at: time.now(), job: queue.nameJob() }, policy);
    const isTaken = await ledger.take(entry, step);
    if (!isTaken || step.kind !== 'move' || !isSendable(step.entry)) return false;
    await queue.add([aloneOf(step.entry)]);
    return true;
  }

  return { tick };
}
