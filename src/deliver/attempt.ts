import { type Busy, isEmptySuccess, type Seen } from '../api/classify.ts';
import type { Entry } from '../ledger/entry.ts';
import { idempotencyKeyOf } from '../ledger/idempotency-key.ts';
import { withJob } from '../ledger/job.ts';
import { next } from '../ledger/state-machine/next.ts';
import type { LedgerEvent, Policy, Step, Verdict } from '../ledger/state-machine/step.ts';
import { batchHeld } from '../log/events/batch.ts';
import { attemptEnded, orderDead } from '../log/events/delivery.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import type { Pass } from './circuit-breaker.ts';
import {
  type Attempt,
  giveBack,
  intend,
  type Line,
  mayBegin,
  type Obstacle,
  stillMayBegin,
  takeToken,
  wasCancelled,
} from './may-begin.ts';
import type { Place } from './places.ts';

/**
 * How an attempt ended: `done` leaves the order to the ledger, `again` repeats all steps at once,
 * `stopped` hands it back to the queue because the process stops.
 */
export type AttemptEnd =
  | { kind: 'done' }
  | { kind: 'again'; entry: Entry }
  /** Its batch is held, so that it waits. */
  | { kind: 'held' }
  | { kind: 'stopped' };

/** An attempt whose outcome was seen. */
type Ended = Attempt & { intended: Entry; seen: Seen };

const DONE: AttemptEnd = { kind: 'done' };
const HELD: AttemptEnd = { kind: 'held' };
const STOPPED: AttemptEnd = { kind: 'stopped' };

/**
 * One attempt to create an order: pass the breaker and the rate limit, take the token, connect, record the intent, send,
 * classify, record, judge. The place is released as soon as the API accepted the order. `asked`: since when the order waits for
 * it, in milliseconds of the monotonic clock.
 */
export async function attempt(
  line: Line,
  entry: Entry,
  place: Place,
  asked: number,
): Promise<AttemptEnd> {
  const { purchaseOrderNumber: number } = entry.order;
  const pass = await takeTurn(line, place, number);
  if (pass === 'stopped') return STOPPED;
  if (line.guards.held.has(entry.batch)) return needless(line, pass, HELD);
  if (await wasCancelled(line, entry, asked))
    return needless(line, pass, { kind: 'again', entry: { ...entry } });
  const token = await takeToken(line);
  if (token === undefined) return { kind: 'again', entry };
  const { inFlight } = line.book.ledger;
  // Another daemon put the order back while a call of it is in flight here; the sweeper brings it again.
  if (inFlight.has(number)) return needless(line, pass);
  // Not before: an order that was cancelled while it waited for its turn must not stop another one of its number.
  inFlight.add(number);
  try {
    return await sendAndRecord(line, { entry, pass, token, place });
  } finally {
    inFlight.delete(number);
  }
}

async function sendAndRecord(line: Line, attempt: Attempt): Promise<AttemptEnd> {
  const ended = await send(line, attempt);
  if ('kind' in ended) return ended;
  await watchBatch(line, ended);
  const end = await record(line, ended);
  await line.guards.health.note({ ...ended, began: ended.intended.lastAt ?? 0 });
  return end;
}

/** Passes the breaker, the opening and the rate limit; after a wait once more, because a pause may have begun meanwhile. */
async function takeTurn(
  { breaker, guards, context }: Line,
  place: Place,
  number: string,
): Promise<Pass> {
  for (;;) {
    const pass = await breaker.pass(context.stopping, number);
    if (pass === 'stopped') return pass;
    const hasWaited = pass === 'closed' && (await place.enter()) === 'waited';
    const turn = await guards.rate.turn(context.stopping);
    if (turn === 'stopped') return turn;
    if (turn === 'at once' && !hasWaited) return pass;
    if (await breaker.stillPasses(pass, number)) return pass;
    place.leave();
  }
}

/** The order was cancelled, held or settled while it waited for its turn, so that turn belongs to the next one. */
async function needless({ breaker }: Line, pass: Pass, end = DONE): Promise<AttemptEnd> {
  if (pass === 'probe') await breaker.passOn();
  return end;
}

/** Connects, records the intent with the connection open, and writes; or ends the attempt before its first byte. */
async function send(line: Line, attempt: Attempt): Promise<Ended | AttemptEnd> {
  const { clock } = line.context;
  const began = clock.monotonic();
  let isOver = false;
  const prepare = () => {
    // A connection that opens after the call timed out: nobody would give back its intent and its place.
    if (isOver) return Promise.resolve(false);
    const before = attempt.preparing;
    attempt.preparing = before ? stillMayBegin(line, attempt, before) : mayBegin(line, attempt);
    return attempt.preparing;
  };
  const seen = await line.partner.create(
    attempt.token,
    attempt.entry.order,
    prepare,
    keyHeader(line, attempt.entry),
  );
  isOver = true;
  // A call may end while its intent is still on the way to Redis. Without a connection none was made: it is recorded now.
  await (attempt.preparing ?? intend(line, attempt));
  const { intended, obstacle, refused, entry } = attempt;
  if (refused) {
    // What is known here of the breaker is older than what the intent met.
    await line.breaker.refresh(true);
    return { kind: 'again', entry };
  }
  if (intended === undefined)
    return needless(line, attempt.pass, line.guards.held.has(entry.batch) ? HELD : DONE);
  if (obstacle !== undefined) return withdraw(line, attempt, intended, obstacle);
  const ended = { ...attempt, intended, seen };
  noteEnd(line, ended, clock.monotonic() - began);
  return ended;
}

/**
 * Gives the intent back, and the turn of a probe order. The sweeper brings back an order whose batch was held, when it
 * is released.
 */
async function withdraw(
  line: Line,
  attempt: Attempt,
  intended: Entry,
  obstacle: Obstacle,
): Promise<AttemptEnd> {
  const entry = await giveBack(line, attempt.entry, intended);
  if (attempt.pass === 'probe') await line.breaker.passOn();
  if (entry === undefined) return DONE;
  if (obstacle === 'held') return HELD;
  return obstacle === 'stopped' ? STOPPED : { kind: 'again', entry };
}

/** Lets the API recognize attempts that repeat each other, if it can. */
function keyHeader({ book: { policy }, context }: Line, entry: Entry): Record<string, string> {
  if (policy.key === undefined) return {};
  return { [policy.key.header]: idempotencyKeyOf(entry, context.config.environment) };
}

function noteEnd({ context }: Line, ended: Ended, took: number): void {
  const { intended, seen } = ended;
  const { batch, attempt: attemptNo, order } = intended;
  const facts = {
    batch,
    order: order.purchaseOrderNumber,
    attempt: attemptNo,
    durationMs: Math.round(took),
    outcome: seen.kind,
    ...(seen.kind === 'accepted' ? {} : { code: seen.said.code, reason: seen.said.message }),
  };
  attemptEnded(context.log, facts, intended);
}

/** Holds the batch whose orders are refused alike. */
async function watchBatch(
  { guards, context }: Line,
  { intended: { batch }, seen }: Ended,
): Promise<void> {
  const refused = guards.refusals.take(batch, seen);
  if (refused === undefined) return;
  const done = await guards.held.hold(batch, refused, context.store.time.now());
  if (done === 'held') batchHeld(context.log, { batch, reason: fileWaitText(refused.wait) });
  if (done === 'not') guards.refusals.allow(batch, refused);
}

/** Records what the attempt showed. An order whose token was renewed is tried again at once. */
async function record(line: Line, ended: Ended): Promise<AttemptEnd> {
  const { book, queue, context } = line;
  const { intended, seen, pass, place } = ended;
  // From this moment settle times are counted: not by a clock that may be behind.
  if (seen.kind === 'unknown') await context.store.time.sync();
  const at = context.store.time.now();
  const verdict = await judge(line, ended, at);
  const event: LedgerEvent = { kind: 'answered', at, attempt: intended.attempt, verdict };
  const goesAgain = seen.kind === 'unauthorized' && pass !== 'probe' && !wasUnauthorized(intended);
  const step = goesAgain
    ? next(intended, event, book.policy)
    : withJob(next(intended, event, book.policy), queue.nameJob);
  const taking = book.ledger.take(intended, step);
  // An intent that becomes possible now follows on the same connection to Redis: when it is durable, so is this outcome.
  if (isAnswer(seen, line)) place.answered();
  if (seen.kind === 'accepted') place.release();
  if (!(await taking)) {
    if (verdict.kind === 'accepted' || verdict.kind === 'misnamed')
      await recordLate(line, intended, event);
    return DONE;
  }
  report(line, step, intended);
  return goesAgain && step.kind === 'move' ? { kind: 'again', entry: step.entry } : DONE;
}

/** Whether the API answered about the order. An empty success counts once the list showed what it means. */
function isAnswer(seen: Seen, { breaker }: Line): boolean {
  if (seen.kind === 'unknown') return isEmptySuccess(seen) && breaker.answersAreClear();
  return seen.kind === 'accepted' || seen.kind === 'misnamed' || seen.kind === 'refused';
}

/** The attempt has ended meanwhile, but the answer still proves that the API has the order. */
async function recordLate(line: Line, { order, digest }: Entry, event: LedgerEvent): Promise<void> {
  const { ledger, policy } = line.book;
  for (;;) {
    const [known] = await ledger.lookup([order.purchaseOrderNumber]);
    if (known?.kind !== 'open' || known.entry.digest !== digest) return;
    const step = next(known.entry, event, policy);
    if (step.kind === 'ignore') return;
    if (await ledger.take(known.entry, step)) return report(line, step, known.entry);
  }
}

/**
 * What the attempt says about its order. While nothing is accepted, a probe order keeps its attempts, and a status that
 * says nothing about orders counts against the environment. While others pass, both count against the order.
 */
async function judge(
  { book, breaker, partner }: Line,
  { intended, seen, pass, token }: Ended,
  at: number,
): Promise<Verdict> {
  const verdict = verdictOf(seen, intended, at, book.policy);
  if (verdict.kind === 'unknown' && pass === 'probe') {
    return { ...verdict, free: !(await breaker.acceptedSince(intended.firstAt ?? at)) };
  }
  if (verdict.kind === 'postponed' && verdict.counts && pass === 'probe') {
    return { ...verdict, counts: await breaker.acceptedSince(intended.firstAt ?? at) };
  }
  const isOfOrder = wasUnauthorized(intended) && !partner.tokens.isUntried(token.fingerprint);
  if (seen.kind === 'closed' || (seen.kind === 'unauthorized' && isOfOrder)) {
    const before = intended.history?.at(-1)?.at ?? intended.lastAt ?? at;
    const until = at + book.policy.backoff(1 + (intended.turnedAway ?? 0));
    return {
      kind: 'postponed',
      answer: seen.said,
      until,
      turnedAway: await breaker.acceptedSince(before),
    };
  }
  return verdict;
}

/** The attempt before this one ended with 401 too, so the token is not what is wrong. */
function wasUnauthorized({ history }: Entry): boolean {
  return history?.at(-1)?.httpStatus === 401;
}

function report({ on, context }: Line, step: Step, { batch, order, lastAt = 0 }: Entry): void {
  const { purchaseOrderNumber } = order;
  if (step.kind === 'accept' || step.kind === 'dead') on.outcome();
  if (step.kind === 'accept') on.accepted(purchaseOrderNumber, lastAt);
  if (step.kind !== 'dead') return;
  const { state: outcome, answer } = step.entry;
  orderDead(context.log, {
    batch,
    order: purchaseOrderNumber,
    outcome,
    reason: answer?.message ?? '',
  });
}

/** What an attempt says about its order, for the ledger. `now` is ledger time in milliseconds. */
function verdictOf(seen: Seen, { used }: Entry, now: number, policy: Policy): Verdict {
  switch (seen.kind) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'refused':
      return { kind: 'refused', answer: seen.said };
    case 'misnamed':
      return { kind: 'misnamed', answer: seen.said };
    case 'unknown':
      return { kind: 'unknown', answer: seen.said, isSuccess: isEmptySuccess(seen) };
    case 'unsent':
      return {
        kind: 'postponed',
        answer: seen.said,
        until: now + policy.backoff(1),
        isUnsent: true,
      };
    case 'busy': {
      const until = now + waitOf(seen, used, policy);
      return { kind: 'postponed', answer: seen.said, until, counts: seen.counts === true };
    }
    case 'unauthorized':
    case 'closed':
      return { kind: 'postponed', answer: seen.said, until: now };
  }
}

/** The longest wait of a single order, in milliseconds. A longer one is a pause, which a person can end. */
const LONGEST = 60_000;

/** When every order has to wait, the circuit breaker waits and the order itself only briefly. */
function waitOf({ everyone, retryAfter, counts }: Busy, used: number, policy: Policy): number {
  if (!everyone && retryAfter !== undefined) return Math.min(retryAfter, LONGEST);
  return policy.backoff(counts ? used + 1 : 1);
}
