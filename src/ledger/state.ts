import { type Answer, type Entry, type PastAttempt, versionAfter } from './entry.ts';

/**
 * What one attempt showed, in the words of the outcome table.
 * `postponed` says nothing of the order: it goes again at `until` and its budget stays whole.
 */
export type Verdict =
  | { kind: 'accepted' }
  | { kind: 'refused'; answer: Answer }
  /** `free`: what failed was not this order, so it costs no attempt. */
  | { kind: 'unknown'; answer: Answer; free?: boolean }
  /** A complete success answer that names another number: the API has something, and the list cannot tell what. */
  | { kind: 'misnamed'; answer: Answer }
  /** `turnedAway`: a status that says nothing about orders, while the API accepted others since this order's last attempt. */
  | { kind: 'postponed'; answer: Answer; until: number; turnedAway?: boolean };

/** Everything that can happen to an order. `at` is Redis time in milliseconds. */
export type LedgerEvent =
  | { kind: 'begin'; at: number; deadline: number }
  | { kind: 'answered'; at: number; attempt: number; verdict: Verdict }
  /** The deadline of the attempt is over and nobody told its end. */
  | { kind: 'lapsed'; at: number }
  /** A list holds the number, with the same content or other. */
  | { kind: 'found'; at: number; same: boolean }
  /** A list that is good evidence and began at `listedFrom` does not hold it; `needed` such lists decide. */
  | { kind: 'absent'; at: number; listedFrom: number; needed: number }
  /** The list cannot be had or cannot tell. */
  | { kind: 'unlistable'; at: number; answer: Answer }
  | { kind: 'cancel'; at: number };

/** What follows. `due` is when a sweeper looks after it, `doubt` when the list may be asked; both Redis time. */
export type Step =
  | { kind: 'ignore' }
  | { kind: 'move'; entry: Entry; due?: number; doubt?: number }
  | { kind: 'accept'; attempts: number; at: number }
  | { kind: 'cancel'; at: number }
  | { kind: 'dead'; entry: DeadEntry };

/** An order that waits for a person. */
export type DeadEntry = Entry & { state: 'conflict' | 'refused' | 'failed' | 'inDoubt' };

/** The rules that the configuration sets. */
export type Policy = {
  attempts: number;
  settle: number;
  onDoubt: 'verify' | 'hold';
  /** Milliseconds to wait before the attempt after `used` failed ones. */
  backoff(used: number): number;
};

/** Attempts that an entry tells of. */
const REMEMBERED = 10;

/** After so many attempts turned away while others passed, the order itself is refused. */
const TURNED_AWAY = 5;

/** Milliseconds that the sweeper leaves an order to the queue before it checks whether the queue still has it. */
export const SWEEP_AFTER = 30_000;

/**
 * The ledger's one rule book: what an event makes of an order. Pure; the same for daemon, tests and simulation.
 * Proof that the order exists wins from any attempt; any other late or repeated event changes nothing.
 */
export function next(entry: Entry, event: LedgerEvent, policy: Policy): Step {
  const step = decided(entry, event, policy);
  const version = versionAfter(entry.version, event.at);
  switch (step.kind) {
    case 'move':
      return { ...step, entry: { ...step.entry, version } };
    case 'dead':
      return { ...step, entry: { ...step.entry, version } };
    case 'accept':
    case 'cancel':
    case 'ignore':
      return step;
  }
}

function decided(entry: Entry, event: LedgerEvent, policy: Policy): Step {
  switch (event.kind) {
    case 'begin':
      return begin(entry, event.at, event.deadline);
    case 'answered':
      return answered(entry, event, policy);
    case 'lapsed':
      return entry.state === 'sending' && isOver(entry, event.at) ? lapsed(entry, event.at, policy) : IGNORE;
    case 'found':
      return found(entry, event.at, event.same);
    case 'absent':
      return entry.state === 'unknown' ? absent(entry, event, policy) : IGNORE;
    case 'unlistable':
      return entry.state === 'unknown' ? inDoubt(entry, event.answer) : IGNORE;
    case 'cancel':
      return isSendable(entry) && entry.maybeSentAt === undefined ? { kind: 'cancel', at: event.at } : IGNORE;
  }
}

const IGNORE: Step = { kind: 'ignore' };

function isSendable({ state }: Entry): boolean {
  return state === 'queued' || state === 'retry';
}

function begin(entry: Entry, at: number, deadline: number): Step {
  if (!isSendable(entry)) return IGNORE;
  const sending = change(entry, {
    state: 'sending',
    attempt: entry.attempt + 1,
    deadline,
    firstAt: entry.firstAt ?? at,
    lastAt: at,
  });
  return { kind: 'move', entry: sending, due: deadline };
}

function answered(entry: Entry, event: Extract<LedgerEvent, { kind: 'answered' }>, policy: Policy): Step {
  const { verdict, at, attempt } = event;
  if (verdict.kind === 'accepted') return { kind: 'accept', attempts: entry.attempt, at };
  // Also when the attempt was already given up: an order that the API may have under another name is not sent again.
  if (verdict.kind === 'misnamed' && (entry.state === 'unknown' || isSendable(entry)))
    return inDoubt(change(entry, { maybeSentAt: at }), verdict.answer);
  if (entry.state !== 'sending' || attempt !== entry.attempt) return IGNORE;
  const history = remembering(entry, at, verdict.answer);
  switch (verdict.kind) {
    case 'postponed': {
      const turnedAway = (entry.turnedAway ?? 0) + (verdict.turnedAway ? 1 : 0);
      if (turnedAway >= TURNED_AWAY) return refused(change(entry, { history }), verdict.answer, policy);
      const changes = {
        state: 'retry',
        answer: verdict.answer,
        history,
        ...(turnedAway > 0 ? { turnedAway } : {}),
      } as const;
      const { deadline: _, ...rest } = change(entry, changes);
      return { kind: 'move', entry: rest, due: verdict.until };
    }
    case 'refused':
      return refused(change(entry, { history }), verdict.answer, policy);
    case 'misnamed':
      return inDoubt(change(entry, { maybeSentAt: at, history }), verdict.answer);
    case 'unknown':
      return unknown(change(entry, { used: entry.used + (verdict.free ? 0 : 1), history }), at, verdict.answer, policy);
  }
}

/** Final, unless an earlier attempt may have been sent: then the list decides first. */
function refused(entry: Entry, answer: Answer, policy: Policy): Step {
  return entry.maybeSentAt === undefined
    ? { kind: 'dead', entry: dead(entry, 'refused', answer) }
    : unknown(change(entry, { refusal: answer }), entry.maybeSentAt, answer, policy);
}

/** Nothing of the attempt can be on its way any more. */
function isOver({ deadline = 0 }: Entry, at: number): boolean {
  return at >= deadline;
}

function lapsed(entry: Entry, at: number, policy: Policy): Step {
  const sentBy = entry.deadline ?? at;
  const answer = { code: 'lost-track', message: 'the process that sent it ended before the answer' };
  const history = remembering(entry, at, answer);
  return unknown(change(entry, { used: entry.used + 1, history }), sentBy, answer, policy);
}

/** The attempt that just ended joins the latest ones. */
function remembering({ attempt, history = [] }: Entry, at: number, answer: Answer): readonly PastAttempt[] {
  const { code, message, httpStatus } = answer;
  const past = {
    attempt,
    at,
    code,
    message: message.slice(0, 200),
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
  return [...history, past].slice(-REMEMBERED);
}

function unknown(entry: Entry, sentAt: number, answer: Answer, policy: Policy): Step {
  const { deadline: _, absentAt: __, ...rest } = entry;
  const maybe: Entry = { ...rest, state: 'unknown', maybeSentAt: sentAt, absences: 0, answer };
  if (policy.onDoubt === 'hold') return inDoubt(maybe, answer);
  return { kind: 'move', entry: maybe, doubt: sentAt + policy.settle };
}

function found(entry: Entry, at: number, same: boolean): Step {
  if (same) return { kind: 'accept', attempts: entry.attempt, at };
  if (entry.state !== 'unknown' && entry.state !== 'queued' && entry.state !== 'retry') return IGNORE;
  const answer = { code: 'other-content', message: 'the API already has this number with other items' };
  return { kind: 'dead', entry: dead(entry, 'conflict', answer) };
}

function absent(entry: Entry, event: Extract<LedgerEvent, { kind: 'absent' }>, policy: Policy): Step {
  const { listedFrom, at } = event;
  if (listedFrom < (entry.maybeSentAt ?? 0) + policy.settle) return IGNORE;
  if (entry.absentAt !== undefined && listedFrom < entry.absentAt + policy.settle) return IGNORE;
  const absences = entry.absences + 1;
  if (absences < event.needed) {
    const waiting = change(entry, { absences, absentAt: listedFrom });
    return { kind: 'move', entry: waiting, doubt: listedFrom + policy.settle };
  }
  if (entry.refusal) return { kind: 'dead', entry: dead(entry, 'refused', entry.refusal) };
  if (entry.used >= policy.attempts) return { kind: 'dead', entry: dead(entry, 'failed', entry.answer) };
  const { absentAt: _, ...again } = change(entry, { state: 'retry', absences: 0 });
  return { kind: 'move', entry: again, due: at + policy.backoff(entry.used) };
}

function inDoubt(entry: Entry, answer: Answer): Step {
  return { kind: 'dead', entry: dead(entry, 'inDoubt', answer) };
}

function dead(entry: Entry, state: DeadEntry['state'], answer: Answer | undefined): DeadEntry {
  const { deadline: _, ...rest } = entry;
  return { ...change(rest, answer === undefined ? {} : { answer }), state };
}

function change(entry: Entry, changes: Partial<Entry>): Entry {
  return { ...entry, ...changes };
}
