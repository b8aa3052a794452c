import { type Entry, type Occurrence, OTHER, occurrencesOf } from '../entry.ts';
import {
  type Decision,
  IGNORE,
  isSendable,
  type Policy,
  type Step,
  SWEEP_AFTER,
  verifyStep,
} from './step.ts';

/**
 * What a person's decision makes of an order. An order that may be at the API is sent again only by `resend`; every
 * state but `sending`, which ends by its deadline, accepts a decision.
 */
export function decided(entry: Entry, decision: Decision, policy: Policy): Step {
  switch (decision.kind) {
    case 'retry':
      if (entry.state === 'refused') return queued(renewed(entry, decision.at), decision);
      return entry.state === 'failed' ? queued(entry, decision) : IGNORE;
    case 'ask':
      return entry.state === 'inDoubt' ? asked(entry, decision.at, policy.settle) : IGNORE;
    case 'confirm':
      return mayBeThere(entry)
        ? { kind: 'accept', attempts: entry.attempt, at: decision.at }
        : IGNORE;
    case 'resend':
      return entry.state === 'conflict' || mayBeThere(entry) ? resent(entry, decision) : IGNORE;
    case 'recall': {
      const again = decided(entry, { ...decision, kind: decision.as, job: '', delay: 0 }, policy);
      return again.kind === 'move'
        ? verifyStep({ ...again.entry, maybeSentAt: decision.at }, decision.at, policy)
        : IGNORE;
    }
    case 'cancel':
      return cancelled(entry, decision, policy);
    case 'discard':
      return discarded(entry, decision.at);
  }
}

/** Whether the order waits, and an attempt of it may have reached the API. */
export function mayBeThere({ state, maybeSentAt }: Entry): boolean {
  return (
    state === 'inDoubt' || state === 'unknown' || (state === 'retry' && maybeSentAt !== undefined)
  );
}

type Again = { at: number; job: string; who?: string; delay?: number };

/** Gives the order a new budget; the attempt number, the last answer and the history stay. */
function queued(entry: Entry, { at, job, who, delay = 0 }: Again): Step {
  const {
    refusal: _,
    absentAt: __,
    askedSince: ___,
    turnedAway: ____,
    repeats: _____,
    isAlone: ______,
    ...rest
  } = entry;
  const state = delay > 0 ? 'retry' : 'queued';
  const again: Entry = {
    ...rest,
    state,
    job,
    used: 0,
    absences: 0,
    ...(who === undefined ? {} : { sentBy: who }),
  };
  return { kind: 'move', entry: again, due: delay > 0 ? at + delay : at + SWEEP_AFTER };
}

/** The person knows that the order did not arrive, or decides to send it anyway: the next refusal is final. */
function resent(entry: Entry, decision: Again): Step {
  const { maybeSentAt: _, misnamed: __, known: ___, ...rest } = entry;
  return queued(renewed(rest, decision.at), decision);
}

/** With the former idempotency key the API could repeat its former answer. */
function renewed(entry: Entry, at: number): Entry {
  const { keyed: _, ...rest } = entry;
  return { ...rest, renewedAt: at };
}

function asked(entry: Entry, at: number, settle: number): Step {
  const { absentAt: _, askedSince: __, ...rest } = entry;
  const unknown: Entry = { ...rest, state: 'unknown', absences: 0 };
  return { kind: 'move', entry: unknown, doubt: Math.max(at, (entry.maybeSentAt ?? at) + settle) };
}

function cancelled(
  entry: Entry,
  { at, batch, job }: Extract<Decision, { kind: 'cancel' }>,
  policy: Policy,
): Step {
  const { also: _, ...alone } = entry;
  const left = occurrencesOf(entry).filter((one) => one.batch === batch);
  if (left.length === 0) return IGNORE;
  const [first, ...others] = occurrencesOf(entry).filter((one) => one.batch !== batch);
  const also = others.length > 0 && { also: others };
  if (entry.batch !== batch)
    return { kind: 'cancel', at, left, rest: { entry: { ...alone, ...also } } };
  if (entry.repeats || entry.isAlone) return verifyStep(entry, at, policy);
  // An earlier attempt that may have been sent does not matter: the list has shown that it created nothing.
  if (!isSendable(entry)) return IGNORE;
  if (first === undefined) return { kind: 'cancel', at, left };
  const heir = { ...inherited(entry, first, job), ...also };
  return { kind: 'cancel', at, left, rest: { entry: heir, due: at + SWEEP_AFTER } };
}

/** The same order, now of another file. */
function inherited(
  { order, digest, attempt, version, renewedAt, keyed }: Entry,
  of: Occurrence,
  job: string,
): Entry {
  return {
    ...(renewedAt !== undefined && { renewedAt }),
    ...(keyed && { keyed }),
    version,
    state: 'queued',
    order,
    digest,
    ...of,
    job,
    attempt,
    used: 0,
    absences: 0,
  };
}

/** A dead letter can be discarded if its order is idle and its outcome is certain. */
export function discarded(entry: Entry, at: number): Extract<Step, { kind: 'drop' | 'ignore' }> {
  switch (entry.state) {
    case 'refused':
    case 'failed':
      return { kind: 'drop', at };
    case 'conflict':
      return { kind: 'drop', at, keeps: entry.known?.digest ?? OTHER };
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
    case 'inDoubt':
      return { kind: 'ignore' };
  }
}
