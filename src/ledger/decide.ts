import { type Entry, versionAfter } from './entry.ts';
import { type Step, SWEEP_AFTER } from './state.ts';

/** A person's word about an order. `at` is Redis time in milliseconds, `job` the queue job that carries it from now on. */
export type Decision =
  /** It is sent once more, as it is, `delay` milliseconds from now. */
  | { kind: 'retry'; at: number; job: string; delay: number }
  /** In doubt: the list is asked again. */
  | { kind: 'ask'; at: number; settle: number }
  /** In doubt: the person knows that the API has it. */
  | { kind: 'confirm'; at: number }
  /** In doubt: the person knows that the API does not have it. */
  | { kind: 'resend'; at: number; job: string };

/**
 * The page of the rule book that belongs to people: what their word makes of an order that waits for them. Pure.
 * An order in doubt is never simply sent again: the list decides, or a person who knows.
 */
export function decide(entry: Entry, decision: Decision): Step {
  switch (decision.kind) {
    case 'retry':
      return entry.state === 'refused' || entry.state === 'failed' || entry.state === 'conflict'
        ? queued(entry, decision.at, decision.job, decision.delay)
        : IGNORE;
    case 'ask':
      return entry.state === 'inDoubt' ? asked(entry, decision.at, decision.settle) : IGNORE;
    case 'confirm':
      return entry.state === 'inDoubt' ? { kind: 'accept', attempts: entry.attempt, at: decision.at } : IGNORE;
    case 'resend': {
      if (entry.state !== 'inDoubt') return IGNORE;
      // By the person's word nothing of it arrived: the next no is final.
      const { maybeSentAt: _, ...rest } = entry;
      return queued(rest, decision.at, decision.job);
    }
  }
}

const IGNORE: Step = { kind: 'ignore' };

/** The budget is whole again; the fence, the last answer and the history stay. */
function queued(entry: Entry, at: number, job: string, delay = 0): Step {
  const { refusal: _, absentAt: __, turnedAway: ___, ...rest } = entry;
  const version = versionAfter(entry.version, at);
  const state = delay > 0 ? 'retry' : 'queued';
  const again: Entry = { ...rest, version, state, job, used: 0, absences: 0 };
  return { kind: 'move', entry: again, due: delay > 0 ? at + delay : at + SWEEP_AFTER };
}

function asked(entry: Entry, at: number, settle: number): Step {
  const { absentAt: _, ...rest } = entry;
  const unknown: Entry = { ...rest, version: versionAfter(entry.version, at), state: 'unknown', absences: 0 };
  return { kind: 'move', entry: unknown, doubt: Math.max(at, (entry.maybeSentAt ?? at) + settle) };
}
