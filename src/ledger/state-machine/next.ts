import { type Entry, versionAfter } from '../entry.ts';
import { answered, begin, givenBack, lapsed, requeued } from './after-attempt.ts';
import { listed } from './after-list.ts';
import { decided } from './decision.ts';
import type { LedgerEvent, Policy, Step } from './step.ts';

/**
 * The state machine of an order: what an event makes of it. Nothing else decides that. Pure; the same for the daemon, the
 * commands, the tests and the simulation. `src/admit/admission.ts` decides about an order that a file brings.
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
      return step.heir
        ? { ...step, heir: { ...step.heir, entry: { ...step.heir.entry, version } } }
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

/** Where an order comes from, and the job that carries it. */
export type Arrival = Pick<
  Entry,
  'order' | 'digest' | 'batch' | 'batchNo' | 'ordinal' | 'place' | 'job'
>;

/** The entry of an order. It keeps the attempt number of a dead letter. */
export function entered(arrival: Arrival, before: Entry | undefined, at: number): Entry {
  return {
    version: versionAfter(before?.version ?? 0, at),
    state: 'queued',
    ...arrival,
    attempt: before?.attempt ?? 0,
    used: 0,
    absences: 0,
    ...(before?.maybeSentAt === undefined ? {} : { maybeSentAt: before.maybeSentAt }),
    ...(before && keyAfter(before, arrival, at)),
  };
}

/** Only the same content that failed keeps its idempotency key: with it, the API could repeat a refusal. */
function keyAfter(before: Entry, { digest }: Arrival, at: number): Partial<Entry> {
  const { state, renewedAt, keyed } = before;
  if (state !== 'failed' || digest !== before.digest) return { renewedAt: at };
  return { ...(renewedAt !== undefined && { renewedAt }), ...(keyed && { keyed }) };
}
