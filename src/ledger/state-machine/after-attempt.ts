import type { Answer, Entry, PastAttempt } from '../entry.ts';
import {
  deadStep,
  IGNORE,
  isKeyKnown,
  isSendable,
  type LedgerEvent,
  type Policy,
  type Step,
  SWEEP_AFTER,
  verifyStep,
} from './step.ts';

type Answered = Extract<LedgerEvent, { kind: 'answered' }>;

/** Attempts that an entry remembers. */
const REMEMBERED = 10;

/** After this many rejected attempts while others passed, the order itself is refused. */
const TURNED_AWAY = 5;

/** An attempt begins: its number and deadline are durable before its first byte. */
export function begin(entry: Entry, at: number, deadline: number, policy: Policy): Step {
  if (!isSendable(entry) || (entry.repeats && !isKeyKnown(entry, at, policy))) return IGNORE;
  const { keyed, ...rest } = entry;
  const { header } = policy.key ?? {};
  const sending: Entry = {
    ...rest,
    ...(header !== undefined && { keyed: keyed?.header === header ? keyed : { header, at } }),
    state: 'sending',
    attempt: entry.attempt + 1,
    deadline,
    firstAt: entry.firstAt ?? at,
    lastAt: at,
  };
  return { kind: 'move', entry: sending, due: deadline };
}

/** No byte of the attempt was written, and none will be: the order waits as before, and the attempt does not count. */
export function givenBack(entry: Entry, at: number, before: Entry): Step {
  const isItsAttempt = entry.attempt === before.attempt + 1 && entry.digest === before.digest;
  if (entry.state !== 'sending' || !isItsAttempt || !isSendable(before)) return IGNORE;
  return { kind: 'move', entry: before, due: at + SWEEP_AFTER };
}

/**
 * An attempt ended. Proof that the order exists is accepted from any attempt; any other late or repeated answer is
 * ignored.
 */
export function answered(entry: Entry, { verdict, at, attempt }: Answered, policy: Policy): Step {
  if (verdict.kind === 'accepted') {
    const isLast = entry.state === 'sending' && attempt === entry.attempt;
    const since = isLast ? entry.lastAt : entry.firstAt;
    return { kind: 'accept', attempts: entry.attempt, at, since };
  }
  // Also after the attempt lapsed: an order that the API may have under another number is not sent again.
  if (verdict.kind === 'misnamed' && (entry.state === 'unknown' || isSendable(entry)))
    return misnamed(entry, at, verdict.answer);
  if (entry.state !== 'sending' || attempt !== entry.attempt) return IGNORE;
  const ended: Entry = { ...entry, history: remembering(entry, at, verdict.answer) };
  switch (verdict.kind) {
    case 'postponed':
      return postponed(ended, at, verdict, policy);
    case 'refused':
      return ends(ended, 'refused', { at, answer: verdict.answer }, policy);
    case 'misnamed':
      return misnamed(ended, at, verdict.answer);
    case 'unknown':
      return unknown(
        { ...ended, used: entry.used + (verdict.free ? 0 : 1) },
        { sentAt: at, at },
        verdict,
        policy,
      );
  }
}

/** The deadline of an attempt passed without a recorded answer. */
export function lapsed(entry: Entry, at: number, policy: Policy): Step {
  const { state, deadline = 0, used } = entry;
  if (state !== 'sending' || at < deadline) return IGNORE;
  const answer = {
    code: 'lost-track',
    message: 'the process that sent the order ended before the answer',
  };
  const ended = { ...entry, used: used + 1, history: remembering(entry, at, answer) };
  return unknown(ended, { sentAt: deadline, at }, { answer }, policy);
}

/** An order that is due, or whose job the queue lost, gets a new job, unless it is in doubt and its key too old. */
export function requeued(entry: Entry, at: number, job: string, policy: Policy): Step {
  if (!isSendable(entry)) return IGNORE;
  if (entry.repeats && !isKeyKnown(entry, at, policy)) return verifyStep(entry, at, policy);
  return { kind: 'move', entry: { ...entry, job }, due: at + SWEEP_AFTER };
}

type Postponed = Extract<Answered['verdict'], { kind: 'postponed' }>;

function postponed(entry: Entry, at: number, verdict: Postponed, policy: Policy): Step {
  const { answer, until } = verdict;
  const turnedAway = (entry.turnedAway ?? 0) + (verdict.turnedAway ? 1 : 0);
  if (turnedAway >= TURNED_AWAY) return ends(entry, 'refused', { at, answer }, policy);
  const used = entry.used + (verdict.counts ? 1 : 0);
  if (verdict.counts && used >= policy.attempts)
    return ends({ ...entry, used }, 'failed', { at, answer }, policy);
  const { deadline: _, keyed, ...rest } = entry;
  const isUnused = verdict.isUnsent && keyed?.at === entry.lastAt;
  const waiting: Entry = {
    ...rest,
    ...(keyed && !isUnused && { keyed }),
    state: 'retry',
    used,
    answer,
    ...(turnedAway > 0 ? { turnedAway } : {}),
  };
  return { kind: 'move', entry: waiting, due: until };
}

/** Final, unless an earlier attempt may have been sent: then the list decides first. */
function ends(entry: Entry, as: 'refused' | 'failed', ended: Ended, policy: Policy): Step {
  const { at, answer } = ended;
  if (entry.maybeSentAt === undefined) return deadStep(entry, as, at, answer);
  const before = as === 'refused' ? { ...entry, refusal: answer } : entry;
  return unknown(before, { sentAt: entry.maybeSentAt, at }, { answer }, policy);
}

type Ended = { at: number; answer: Answer };

function misnamed(entry: Entry, at: number, answer: Answer): Step {
  return deadStep({ ...entry, maybeSentAt: at, misnamed: true }, 'inDoubt', at, answer);
}

/** The order is in doubt. `sentAt`: when an attempt may have reached the API last. */
function unknown(
  entry: Entry,
  { sentAt, at }: { sentAt: number; at: number },
  { answer, isSuccess = false }: { answer: Answer; isSuccess?: boolean },
  policy: Policy,
): Step {
  const { deadline: _, absentAt: __, askedSince: ___, ...rest } = entry;
  const maybe: Entry = { ...rest, maybeSentAt: sentAt, absences: 0, answer };
  const isFinal = isSuccess || entry.refusal !== undefined || entry.used >= policy.attempts;
  if (isFinal || !isKeyKnown(entry, at, policy)) return verifyStep(maybe, at, policy);
  const again: Entry = { ...maybe, state: 'retry', job: '', repeats: true };
  return { kind: 'move', entry: again, due: at + policy.backoff(Math.max(1, entry.used)) };
}

/** The latest attempts, including the one that just ended. */
function remembering(
  { attempt, history = [] }: Entry,
  at: number,
  answer: Answer,
): readonly PastAttempt[] {
  const { code, httpStatus } = answer;
  const message = answer.message.slice(0, 200);
  const past = { attempt, at, code, message, ...(httpStatus === undefined ? {} : { httpStatus }) };
  return [...history, past].slice(-REMEMBERED);
}
