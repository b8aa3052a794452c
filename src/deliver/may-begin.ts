import type { Partner } from '../api/partner.ts';
import { askedWait, type BearerToken } from '../api/token.ts';
import { codeOf, PoSyncError, reasonOf, toError } from '../core/errors.ts';
import { discardsOf } from '../ledger/batches/kept-discards.ts';
import {
  type Entry,
  INTENT_FRESH,
  isAsBefore,
  type OperatorAction,
  sendingSpan,
} from '../ledger/entry.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { next } from '../ledger/state-machine/next.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context } from '../redis/store.ts';
import type { CircuitBreaker, Pass } from './circuit-breaker.ts';
import type { Guards } from './guards.ts';
import type { Place, Turn } from './places.ts';

/** What an attempt works with. */
export type Line = {
  context: Context;
  book: EnvironmentLedger;
  queue: OrderQueue;
  partner: Partner;
  breaker: CircuitBreaker;
  guards: Guards;
  on: DeliveryEvents;
};

/** Called while orders are delivered. */
export type DeliveryEvents = {
  /** An order was accepted, by an attempt that began at `since`: later it is evidence that a list is complete. */
  accepted(number: string, since: number): void;
  /** An order has its outcome. */
  outcome(): void;
  /** Redis lost part of the ledger: the API's list must be read before anything more is sent. */
  rolledBack(): Promise<void>;
};

/**
 * One attempt on its way through the steps. `intended` is the entry as the ledger has it since the intent, `refused` says
 * that there is no intent for now, and `obstacle` why the intent was not used.
 */
export type Attempt = {
  entry: Entry;
  pass: Exclude<Pass, 'stopped'>;
  token: BearerToken;
  place: Place;
  preparing?: Promise<boolean>;
  isFresh?: () => boolean;
  intended?: Entry;
  refused?: boolean;
  obstacle?: Obstacle;
};

/** What an intent met while it waited for a place. The order keeps the intent only until then: it is given back. */
export type Obstacle = 'late' | 'paused' | 'held' | 'token' | 'stopped' | 'unsteady';

/**
 * The one place where an attempt may begin: with the connection open, the intent durable, and a place among the calls in
 * flight, directly before the first byte.
 */
export async function mayBegin(line: Line, attempt: Attempt): Promise<boolean> {
  const isFresh = freshness(line.context);
  attempt.isFresh = isFresh;
  if (!(await isInTurn(line, attempt))) return false;
  if (line.guards.held.has(attempt.entry.batch) || !(await intend(line, attempt))) return false;
  const turn = await attempt.place.take();
  if (turn === 'at once' && !isFresh()) return false;
  const obstacle = await obstacleAfter(line, attempt, turn, isFresh);
  if (obstacle !== undefined) attempt.obstacle = obstacle;
  return obstacle === undefined;
}

/**
 * Probe orders that waited for the same token or connection take turns again. One that was cancelled or settled while it
 * waited takes none, so that it does not delay the others.
 */
async function isInTurn({ breaker, book }: Line, attempt: Attempt): Promise<boolean> {
  if (attempt.pass === 'closed') return true;
  const [known] = await book.ledger.lookup([attempt.entry.order.purchaseOrderNumber]);
  if (known?.kind !== 'open' || !isAsBefore(known.entry, attempt.entry)) return false;
  if (await breaker.probeMayBegin()) return true;
  attempt.refused = true;
  return false;
}

/** The connection was closed before the first byte: on the next one the attempt keeps its intent and its place. */
export async function stillMayBegin(
  line: Line,
  attempt: Attempt,
  before: Promise<boolean>,
): Promise<boolean> {
  if (!(await before)) return false;
  const obstacle = await obstacleTo(line, attempt, attempt.isFresh ?? (() => false));
  if (obstacle !== undefined) attempt.obstacle = obstacle;
  return obstacle === undefined;
}

/** How often the connection is looked at, in milliseconds. */
const LOOK = 100;

/** Waits until no other daemon is about to say that Redis lost something; false: the process stops. */
export async function untilSteady({ clock, store, stopping }: Context): Promise<boolean> {
  while (!store.isSteady() && !stopping.aborted) await clock.sleep(LOOK, stopping);
  return store.isSteady();
}

/**
 * Waits until the API's list has been read into a ledger that lost something: it may show that the API has an order. False:
 * the process stops.
 */
export async function untilComplete({
  store: { redis, keys },
  clock,
  stopping,
}: Context): Promise<boolean> {
  while ((await redis.exists(keys.rebuild)) === 1 && !stopping.aborted)
    await clock.sleep(5 * LOOK, stopping);
  return !stopping.aborted;
}

/** After a turn of so many milliseconds, a person may have cancelled the batch while nothing could be withdrawn. */
const LONG_TURN = 1_000;

/** Whether the batch was cancelled while the order waited for its turn since `asked`. */
export async function wasCancelled(line: Line, entry: Entry, asked: number): Promise<boolean> {
  return (
    line.context.clock.monotonic() - asked >= LONG_TURN &&
    (await calledOff(line, entry)) !== undefined
  );
}

/**
 * Why an order is not sent any more: a person discarded it before Redis lost that, or its batch is cancelled. Of a canceled batch,
 * nothing is sent any more, unless it had an outcome and a person wanted it sent afterwards.
 * A cancellation has the time at which the person decided.
 */
export async function calledOff(
  { context: { store }, book: { batches } }: Pick<Line, 'context' | 'book'>,
  entry: Entry,
): Promise<OperatorAction | undefined> {
  const { batch, ordinal, order } = entry;
  const at = store.time.now();
  const discarded = (await discardsOf(batch, [entry], store)).get(order.purchaseOrderNumber);
  if (discarded !== undefined) return { at, who: discarded, what: 'discarded' };
  if (!(await batches.isCancelled(batch)) || (await batches.counted(batch))(ordinal))
    return undefined;
  const found = await batches.find(batch);
  // Each order of a settled batch had an outcome: which ones is not kept any more.
  return found?.state === 'done'
    ? undefined
    : { at, who: '', ...found?.cancelledBy, what: 'cancelled' };
}

/** Undefined where none can be had: that pauses delivery. */
export async function takeToken({
  partner,
  breaker,
  context,
}: Line): Promise<BearerToken | undefined> {
  try {
    return await partner.tokens.get();
  } catch (thrown) {
    const error = toError(thrown);
    const code = error instanceof PoSyncError ? error.code : 'token-unavailable';
    const { initial } = context.config.delivery.probe;
    const facts = { says: reasonOf(error), answer: code };
    await breaker.trip({ code, facts }, Math.max(initial, askedWait(error)));
    return undefined;
  }
}

/** Makes the intent durable. False when somebody else changed the order meanwhile, or Redis refused the intent. */
export async function intend(
  { book, context, partner, breaker }: Line,
  attempt: Attempt,
): Promise<boolean> {
  const asked = context.clock.monotonic();
  const at = context.store.time.now();
  const deadline = at + sendingSpan(partner.timeout);
  const step = next(attempt.entry, { kind: 'begin', at, deadline }, book.policy);
  try {
    if (step.kind !== 'move' || !(await book.ledger.take(attempt.entry, step))) return false;
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code !== 'delivery-paused' && code !== 'intent-late') throw thrown;
    // Redis' clock was set, or this process was suspended: the next intent follows the clock.
    if (code === 'intent-late') await context.store.time.sync();
    attempt.refused = true;
    return false;
  }
  breaker.sawNoHold(asked);
  attempt.intended = step.entry;
  return true;
}

/** Without a wait for a place only the time that the intent took has passed: the token may have expired meanwhile. */
async function obstacleAfter(
  line: Line,
  attempt: Attempt,
  turn: Turn,
  isFresh: () => boolean,
): Promise<Obstacle | undefined> {
  if (turn === 'waited') return obstacleTo(line, attempt, isFresh);
  if (turn !== 'at once') return turn;
  if (!line.context.store.isSteady()) return 'unsteady';
  return line.partner.tokens.isCurrent(attempt.token.fingerprint) ? undefined : 'token';
}

/** Checks again what may have changed during the wait for a place. The freshness comes last: nothing waits after it. */
async function obstacleTo(
  { breaker, guards, partner, context }: Line,
  { entry, pass, token }: Attempt,
  isFresh: () => boolean,
): Promise<Obstacle | undefined> {
  if (!(await breaker.stillPasses(pass, entry.order.purchaseOrderNumber))) return 'paused';
  if (context.stopping.aborted) return 'stopped';
  if (guards.held.has(entry.batch)) return 'held';
  if (!partner.tokens.isCurrent(token.fingerprint)) return 'token';
  if (!context.store.isSteady()) return 'unsteady';
  return isFresh() ? undefined : 'late';
}

/**
 * Gives an intent back whose first byte was not written and will not be; the order as it waits now. Undefined when
 * somebody else changed it meanwhile.
 */
export async function giveBack(
  { book, context }: Line,
  before: Entry,
  intended: Entry,
): Promise<Entry | undefined> {
  const step = next(
    intended,
    { kind: 'giveBack', at: context.store.time.now(), before },
    book.policy,
  );
  return step.kind === 'move' && (await book.ledger.take(intended, step)) ? step.entry : undefined;
}

/** Whether an intent is still fresh. Both clocks are asked: one of them does not advance while the machine is suspended. */
function freshness({ clock }: Context): () => boolean {
  const steady = clock.monotonic();
  const wall = clock.now();
  return () => clock.monotonic() - steady < INTENT_FRESH && clock.now() - wall < INTENT_FRESH;
}
