import type { RetryVerdict } from '../operate/dead-letters/retry-dead-letters.ts';
import type { DiscardVerdict } from '../operate/orders/discard-order.ts';

/** What becomes of a dead letter that a person wants to send again or to discard. */
export type Verdict = RetryVerdict | DiscardVerdict;

/** The verdicts with which something is done, in words. */
const DONE = {
  retried: 'queued to be sent again',
  asked: "looked up in the API's list again",
  found: "settled as accepted: the API's list has it",
  discarded: 'discarded',
} satisfies Partial<Record<Verdict, string>>;

type Does = keyof typeof DONE;
export const DOES = Object.keys(DONE) as readonly Does[];

/** Why nothing is done, and what a person does instead. */
const LEFT: Record<Exclude<Verdict, Does>, string> = {
  invalid: 'failed a check. Correct it in its fix file',
  'number-taken':
    'its number was sent with other items. Agree with the supplier, then discard it, or give it another number in its fix file',
  corrected: 'a correction was sent, also under another number',
  'under-way': 'being sent. Wait for the outcome',
  settled: 'already settled',
  forgotten: 'its content is no longer known. Send it by its fix file',
  'in-doubt': 'in doubt. Resolve it first',
  'in-progress': 'in progress in another file. Wait for the outcome; to stop it, cancel that file',
};

export function isDoing(verdict: Verdict): verdict is Does {
  return verdict in DONE;
}

export function verdictText(verdict: Verdict): string {
  return isDoing(verdict) ? DONE[verdict] : LEFT[verdict];
}
