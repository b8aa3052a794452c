import type { Partner } from '../api/partner.ts';
import { environmentOf } from '../config/config.ts';
import { codeOf, toError } from '../core/errors.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { discardsOf } from '../ledger/batches/kept-discards.ts';
import { type Entry, intentsAhead } from '../ledger/entry.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { type Job, LARGEST, withdraw } from '../ledger/job.ts';
import { isSendable } from '../ledger/state-machine/step.ts';
import { deliveryTrouble, orderWithdrawn } from '../log/events/delivery.ts';
import type { OrderQueue } from '../queue/queue.ts';
import { createSweeper } from '../queue/sweeper.ts';
import type { Context } from '../redis/store.ts';
import { type AttemptEnd, attempt } from './attempt.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { createGuards, type HeldBatches } from './guards.ts';
import {
  calledOff,
  type DeliveryEvents,
  type Line,
  untilComplete,
  untilSteady,
} from './may-begin.ts';
import { createPlaces } from './places.ts';

export type DeliveryDeps = {
  context: Context;
  book: EnvironmentLedger;
  queue: OrderQueue;
  partner: Partner;
  breaker: CircuitBreaker;
  on: DeliveryEvents;
};

export type Delivery = {
  /** Delivers the orders of a job; returns the numbers that are handed back because the process stops. */
  deliverJob(job: Job): Promise<string[]>;
  /** Processes orders that are due. */
  sweep(): Promise<void>;
  held: HeldBatches;
};

/** Delivers orders, from a job of the queue to recorded outcomes. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { context, book, on } = deps;
  const { concurrency } = context.config.delivery;
  // A rate limit sets the pace: the wait for Redis costs nothing, and a turn must not be kept.
  const isLimited = environmentOf(context.config).rateLimit !== undefined;
  const guards = createGuards(deps);
  const line: Line = { ...deps, guards };
  const ahead = isLimited ? 0 : intentsAhead(concurrency);
  const places = createPlaces({ ...context, concurrency, ahead, troubles: deps.breaker.troubles });
  const tokenTrial = createSemaphore(1);
  // Enough that the last orders of one job leave no call unused.
  const inHand = createSemaphore(4 * concurrency + 2 * LARGEST);
  let first = '';

  async function deliverJob(job: Job): Promise<string[]> {
    if (await guards.held.still(job.batch)) return park(job.numbers);
    return inHand.hold(() => deliverAll(job), job.numbers.length);
  }

  /** The orders of a held batch stay in the ledger; the sweeper brings them back when it is released. */
  async function park(numbers: readonly string[]): Promise<never[]> {
    const now = context.store.time.now();
    await Promise.all(numbers.map((number) => book.ledger.park(number, now)));
    return [];
  }

  async function deliverAll({ id, numbers, batch }: Job): Promise<string[]> {
    const known = await book.ledger.lookup(numbers);
    const open = known.flatMap((one) => (one.kind === 'open' ? [one.entry] : []));
    const undone = (await toSend(open, batch, deps)).map((entry) => deliverOne(entry, id));
    return (await Promise.all(undone)).flat();
  }

  /** Returns the number when no attempt began. The sweeper picks up an order that fails here because of Redis or a bug. */
  async function deliverOne(entry: Entry, job: string, isFirst = false): Promise<string[]> {
    try {
      const number = entry.order.purchaseOrderNumber;
      // No job has looked whether it is withdrawn.
      if (isFirst && (await toSend([entry], entry.batch, deps)).length === 0) return [];
      const end = await deliver(entry, job, deps, (one) => run(one, isFirst));
      if (end === 'held') return await park([number]);
      return end === 'stopped' ? [number] : [];
    } catch (thrown) {
      if (codeOf(thrown) === 'ledger-rolled-back') await on.rolledBack();
      else deliveryTrouble(context.log, { reason: toError(thrown).message });
      return [];
    }
  }

  /** After a 401 not every call in flight tries the next token at once. */
  function inTurn<T>(call: () => Promise<T>): Promise<T> {
    return guards.health.isTryingToken() ? tokenTrial.hold(call) : call();
  }

  function run(entry: Entry, isFirst: boolean): Promise<AttemptEnd> {
    const asked = context.clock.monotonic();
    return places.hold((place) => inTurn(() => attempt(line, entry, place, asked)), isFirst);
  }

  /** Sends the one order that all others wait for, besides them: they may have every place. False for any other order. */
  function sendFirst(entry: Entry): boolean {
    const { purchaseOrderNumber: number } = entry.order;
    if (deps.breaker.turn() !== number) return false;
    if (first !== number) void deliverOne(entry, entry.job, true).then(() => (first = ''));
    first = number;
    return true;
  }

  const { store, log } = context;
  const sweeper = createSweeper({
    ...book,
    queue: deps.queue,
    time: store.time,
    log,
    isHeld: guards.held.has,
    sendFirst,
  });
  return { deliverJob, sweep: sweeper.tick, held: guards.held };
}

/** One order, until the ledger decides what comes next. */
async function deliver(
  entry: Entry,
  job: string,
  deps: DeliveryDeps,
  run: (entry: Entry) => Promise<AttemptEnd>,
): Promise<'done' | 'held' | 'stopped'> {
  let current = entry;
  // An older job of the same order sends nothing.
  while (isSendable(current) && current.job === job) {
    if (!(await untilSteady(deps.context))) return 'stopped';
    if (current !== entry && (await isWithdrawn(current, deps))) return 'done';
    const end = await run(current);
    if (end.kind !== 'again') return end.kind;
    current = end.entry;
  }
  return 'done';
}

/** The orders of a job without those that are withdrawn. */
async function toSend(
  open: readonly Entry[],
  batch: string,
  deps: DeliveryDeps,
): Promise<readonly Entry[]> {
  const { book, context } = deps;
  // While the ledger lacks something, it may also lack what is cancelled or discarded.
  await untilComplete(context);
  const looks = [book.batches.isCancelled(batch), discardsOf(batch, open, context.store)] as const;
  const [isCancelled, discards] = await Promise.all(looks);
  if (!isCancelled && discards.size === 0) return open;
  const isOver = await Promise.all(open.map((one) => isWithdrawn(one, deps)));
  return open.filter((_, i) => !isOver[i]);
}

/** Withdraws an order that is not to be sent any more; one that was changed meanwhile is somebody else's. */
async function isWithdrawn(entry: Entry, { context, book, queue }: DeliveryDeps): Promise<boolean> {
  const { batch, order } = entry;
  if (!(await untilComplete(context))) return false;
  const action = await calledOff({ context, book }, entry);
  if (action === undefined) return false;
  const isDone = await withdraw(entry, action, { ...book, queue, at: context.store.time.now() });
  const { what, who } = action;
  const why = who === '' ? { what: 'ended' } : { what, who };
  if (isDone) orderWithdrawn(context.log, { batch, order: order.purchaseOrderNumber, ...why });
  return true;
}
