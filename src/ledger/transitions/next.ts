import { type Entry, versionAfter } from '../entry.ts';
import { answered, begin, givenBack, lapsed, requeued } from './after-attempt.ts';
import { listed } from './after-list.ts';
import { decided } from './decision.ts';
import type { LedgerEvent, Policy, Step } from './step.ts';

/**
 * The ledger's one rule book: what an event makes of an order. Pure; the same for the daemon, the commands, the tests
 * and the simulation. `admission.ts` is its page for orders that a file brings.
 */
export function next(entry: Entry, event: LedgerEvent, policy: Policy): Step {
  const step = stepOf(entry, event, policy);
  const version = versionAfter(entry.version, event.at);
  switch (step.kind) {
    case 'move':
      return { ...step, entry: { ...step.entry, version } };
    case 'dead':
      return { ...step, entry: { ...step.entry, version } };
    case 'cancel':
      return step.heir ? { ...step, heir: { ...step.heir, entry: { ...step.heir.entry, version } } } : step;
    case 'accept':
    case 'drop':
    case 'ignore':
      return step;
  }
}

function stepOf(entry: Entry, event: LedgerEvent, policy: Policy): Step {
  switch (event.kind) {
    case 'begin':
      return begin(entry, event.at, event.deadline);
    case 'answered':
      return answered(entry, event, policy);
    case 'giveBack':
      return givenBack(entry, event.at, event.before);
    case 'lapsed':
      return lapsed(entry, event.at, policy);
    case 'requeue':
      return requeued(entry, event.at, event.job);
    case 'found':
    case 'absent':
    case 'inconclusive':
    case 'unlistable':
      return listed(entry, event, policy);
    case 'retry':
    case 'ask':
    case 'confirm':
    case 'resend':
    case 'cancel':
    case 'discard':
      return decided(entry, event, policy);
  }
}
