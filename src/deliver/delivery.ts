import { classify, type Seen } from '../api/classify.ts';
import { createOrder, type Partner } from '../api/create.ts';
import type { BearerToken, TokenSource } from '../api/token.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import type { Http } from '../core/http.ts';
import type { Semaphore } from '../core/semaphore.ts';
import { batchHeld } from '../events/batch.ts';
import { attemptEnded, deliveryTrouble, orderDead } from '../events/delivery.ts';
import { INTENT_TRAVELS } from '../ledger/commits.ts';
import type { Entry } from '../ledger/entry.ts';
import { aloneOf, type Job, withJob } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LedgerEvent, next, type Policy, type Step, type Verdict } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';
import type { Health } from './health.ts';
import type { HeldBatches } from './held-batches.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Refusals } from './refusals.ts';
import { verdictOf } from './verdict.ts';

/** How old an intent may be when its first byte is written. A process that slept longer must not write. */
const FRESH = 2_000;

export type DeliveryDeps = {
  ledger: Ledger;
  queue: OrderQueue;
  tokens: TokenSource;
  http: Http;
  partner: Partner;
  breaker: CircuitBreaker;
  health: Health;
  held: HeldBatches;
  refusals: Refusals;
  rate: RateLimit;
  semaphore: Semaphore;
  inHand: Semaphore;
  clock: Clock;
  time: RedisTime;
  policy: Policy;
  log: Log;
  /** Told of each accepted order: later a proof that a list is complete. */
  onAccepted(number: string): void;
  /** Told of each order that has its outcome. */
  onOutcome(): void;
  /** Redis knows less than it did: asks for the list before anything more is sent. */
  onRolledBack(): Promise<void>;
  /** Aborts when the daemon stops: no new attempt begins, those under way end. */
  stopping: AbortSignal;
};

type Sending = { entry: Entry; mayWrite: () => boolean };

/** The spine of delivery: from a chunk of the queue to recorded outcomes. */
export function createDelivery(deps: DeliveryDeps) {
  const {
    ledger,
    queue,
    tokens,
    breaker,
    health,
    held,
    refusals,
    rate,
    semaphore,
    inHand,
    clock,
    time,
    policy,
    log,
    stopping,
  } = deps;

  /** Delivers the orders of a chunk; returns the numbers that are handed back because the daemon stops. */
  async function deliverJob(job: Job): Promise<string[]> {
    // The orders of a held batch stay in the ledger; the sweeper brings them back when it is released.
    if (held.has(job.batch)) return [];
    return inHand.hold(() => deliverAll(job), job.numbers.length);
  }

  async function deliverAll(job: Job): Promise<string[]> {
    const known = await ledger.lookup(job.numbers);
    const entries = known.flatMap((one) => (one.kind === 'open' ? [one.entry] : []));
    const undone = await Promise.all(entries.map((entry) => deliverOne(entry, job.id)));
    return undone.flat();
  }

  /** Gives the number back when it never began. What breaks here, on Redis or by a bug, the sweeper takes up again. */
  async function deliverOne(entry: Entry, job: string): Promise<string[]> {
    try {
      return (await deliver(entry, job)) === 'stopped' ? [entry.order.purchaseOrderNumber] : [];
    } catch (thrown) {
      if (codeOf(thrown) === 'ledger-rolled-back') await deps.onRolledBack();
      else deliveryTrouble(log, { reason: toError(thrown).message });
      return [];
    }
  }

  /** One order, until it has an outcome or goes on alone later. */
  async function deliver(entry: Entry, job: string): Promise<'done' | 'stopped'> {
    let current: Entry | undefined = entry;
    while (current && isSendable(current, job)) {
      const before: Entry = current;
      const after = await semaphore.hold((giveBack) => tryOnce(before, giveBack));
      if (after === 'stopped') return 'stopped';
      current = after;
    }
    return 'done';
  }

  /** Gives the order back when it is to go again right here. */
  async function tryOnce(entry: Entry, giveBack: () => void): Promise<Entry | 'stopped' | undefined> {
    const pass = await breaker.pass(stopping);
    if (pass === 'stopped') return 'stopped';
    if (held.has(entry.batch)) return undefined;
    const token = await tokenOrPause();
    if (token === undefined) return entry;
    if (!(await rate.turn(stopping))) return 'stopped';
    const sending = await intend(entry);
    if (sending === undefined) return undefined;
    const seen = await attempt(sending, token);
    await watchBatch(sending.entry.batch, seen);
    const again = await record(sending.entry, seen, pass, giveBack);
    await health.note(seen, pass, token);
    return again;
  }

  async function tokenOrPause(): Promise<BearerToken | undefined> {
    try {
      return await tokens.get();
    } catch (thrown) {
      const error = toError(thrown);
      await breaker.close(error instanceof PoSyncError ? error.code : 'token-unavailable', error.message);
      return undefined;
    }
  }

  /** Intent before bytes: durable in Redis, and ours only if nobody changed the order meanwhile. */
  async function intend(entry: Entry): Promise<Sending | undefined> {
    const isFresh = freshness();
    const at = time.now();
    const step = next(entry, { kind: 'begin', at, deadline: at + sendingSpan(deps.partner.timeout) }, policy);
    if (step.kind !== 'move' || !(await ledger.take(entry, step))) return undefined;
    return { entry: step.entry, mayWrite: isFresh };
  }

  /** A clock that stands still while the machine sleeps does not tell alone. */
  function freshness(): () => boolean {
    const steady = clock.monotonic();
    const wall = clock.now();
    return () => clock.monotonic() - steady < FRESH && clock.now() - wall < FRESH;
  }

  async function attempt({ entry, mayWrite }: Sending, token: BearerToken): Promise<Seen> {
    const { batch, attempt: attemptNo, order } = entry;
    const began = clock.monotonic();
    const end = await createOrder(deps.http, deps.partner, token, order, mayWrite);
    const seen = classify(end, order.purchaseOrderNumber, new Date(clock.now()));
    attemptEnded(log, {
      batch,
      order: order.purchaseOrderNumber,
      attempt: attemptNo,
      durationMs: Math.round(clock.monotonic() - began),
      outcome: seen.kind,
      ...(seen.kind === 'accepted' ? {} : { code: seen.said.code, reason: seen.said.message }),
    });
    return seen;
  }

  /** Records what an attempt showed. Gives the order back when it is to go again right here, behind the gate. */
  async function record(entry: Entry, seen: Seen, pass: Pass, giveBack: () => void): Promise<Entry | undefined> {
    // From then on settles are counted: not by a clock that may be behind.
    if (seen.kind === 'unknown') await time.sync();
    const at = time.now();
    const verdict = await judge(entry, seen, pass, at);
    const event: LedgerEvent = { kind: 'answered', at, attempt: entry.attempt, verdict };
    const here = seen.kind === 'closed' || seen.kind === 'unauthorized';
    const step = here ? next(entry, event, policy) : withJob(next(entry, event, policy), queue.nameJob);
    const taking = ledger.take(entry, step);
    // The next intent follows this on the same connection: when it is durable this is, and no more are unknown at once.
    if (seen.kind === 'accepted') giveBack();
    if (!(await taking)) {
      if (seen.kind === 'accepted') await recordLate(entry, event);
      return undefined;
    }
    tell(step, entry);
    if (step.kind !== 'move' || step.entry.state !== 'retry') return undefined;
    if (here) return step.entry;
    await queue.add([aloneOf(step.entry)], verdict.kind === 'postponed' ? verdict.until - at : 0);
    return undefined;
  }

  /** The attempt was given up meanwhile; that the API has the order is proof all the same. */
  async function recordLate({ order, digest }: Entry, event: LedgerEvent): Promise<void> {
    for (;;) {
      const [known] = await ledger.lookup([order.purchaseOrderNumber]);
      if (known?.kind !== 'open' || known.entry.digest !== digest) return;
      const step = next(known.entry, event, policy);
      if (await ledger.take(known.entry, step)) return tell(step, known.entry);
    }
  }

  /**
   * While the API is down an order that only tries for all keeps its attempts. Unless others were accepted since it
   * failed first: then it may be this order that the API breaks at.
   */
  async function judge(entry: Entry, seen: Seen, pass: Pass, at: number): Promise<Verdict> {
    const verdict = verdictOf(seen, at, policy);
    if (verdict.kind !== 'unknown' || pass !== 'probe') return verdict;
    return { ...verdict, free: !(await breaker.acceptedSince(entry.firstAt ?? at)) };
  }

  async function watchBatch(batch: string, seen: Seen): Promise<void> {
    const reason = refusals.take(batch, seen);
    if (reason !== undefined && (await held.hold(batch, reason, time.now()))) batchHeld(log, { batch, reason });
  }

  function tell(step: Step, { batch, order }: Entry): void {
    const { purchaseOrderNumber } = order;
    if (step.kind === 'accept' || step.kind === 'dead') deps.onOutcome();
    if (step.kind === 'accept') deps.onAccepted(purchaseOrderNumber);
    if (step.kind !== 'dead') return;
    const { state: outcome, answer } = step.entry;
    orderDead(log, { batch, order: purchaseOrderNumber, outcome, reason: answer?.message ?? '' });
  }

  return { deliverJob };
}

/** From the intent until nothing of the attempt is on its way any more, in milliseconds. */
export function sendingSpan(timeout: number): number {
  return INTENT_TRAVELS + FRESH + timeout;
}

/** Only what waits, and only for the job that carries it now: an older job of the same order is a ghost. */
function isSendable(entry: Entry, job: string): boolean {
  return (entry.state === 'queued' || entry.state === 'retry') && entry.job === job;
}
