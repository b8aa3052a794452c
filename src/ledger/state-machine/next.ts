import { type Entry, type Known, versionAfter } from '../entry.ts';
import { answered, begin, givenBack, lapsed, requeued } from './after-attempt.ts';
import { listed } from './after-list.ts';
import { type Appearance, type Appears, appeared } from './appears.ts';
import { decided } from './decision.ts';
import type { LedgerEvent, Policy, Step } from './step.ts';

/**
 * The state machine of an order: what an event makes of it. Nothing else decides that. Pure; the same for the daemon, the
 * commands, the tests and the simulation.
 */
export function next(known: Known, event: Appears): Appearance;
export function next(entry: Entry, event: LedgerEvent, policy: Policy): Step;
export function next(...given: [Known, Appears] | [Entry, LedgerEvent, Policy]): Appearance | Step {
  if (given.length === 2) return appeared(...given);
  const [entry, event, policy] = given;
  const step = stepOf(entry, event, policy);
  const version = versionAfter(entry.version, event.at);
  switch (step.kind) {
    case 'move':
      return { ...step, entry: { ...step.entry, version } };
    case 'dead': {
      const { also: _, ...own } = step.entry;
      return { ...step, entry: { ...own, version } };
    }
    case 'cancel':
      return step.rest
        ? { ...step, rest: { ...step.rest, entry: { ...step.rest.entry, version } } }
        : step;
    case 'accept':
    case 'drop':
    case 'ignore':
      return step;
  }
}

function stepOf(entry: Entry, event: LedgerEvent, policy: Policy): Step {
  switch (event.kind) {
    case 'begin':
      return begin(entry, event.at, event.deadline, policy);
    case 'answered':
      return answered(entry, event, policy);
    case 'giveBack':
      return givenBack(entry, event.at, event.before);
    case 'lapsed':
      return lapsed(entry, event.at, policy);
    case 'requeue':
      return requeued(entry, event.at, event.job, policy);
    case 'found':
    case 'absent':
    case 'inconclusive':
    case 'unlistable':
      return listed(entry, event, policy);
    case 'retry':
    case 'ask':
    case 'confirm':
    case 'resend':
    case 'recall':
    case 'cancel':
    case 'discard':
      return decided(entry, event, policy);
  }
}
