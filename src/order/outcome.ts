import type { Sentence } from './sentence.ts';

/** Final results of an order. The eight counts add up to the orders of a finished batch (docs/how-it-works.md, "What becomes of an order"). */
export const OUTCOMES = [
  'accepted',
  'duplicate',
  'conflict',
  'invalid',
  'refused',
  'failed',
  'inDoubt',
  'cancelled',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** The outcomes that need a person and become a dead letter. */
export const DEAD_LETTER_KINDS = ['invalid', 'conflict', 'refused', 'failed', 'inDoubt'] as const;

export type DeadLetterKind = (typeof DEAD_LETTER_KINDS)[number];

/** Whether an outcome needs a person, and so becomes a dead letter. The only place that decides this. */
export function needsPerson(outcome: Outcome): outcome is DeadLetterKind {
  switch (outcome) {
    case 'conflict':
    case 'invalid':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return true;
    case 'accepted':
    case 'duplicate':
    case 'cancelled':
      return false;
  }
}

/** The code of a duplicate of an order that the API has, and of one of an order that is not accepted when its report is written. */
export const DUPLICATE = 'duplicate' as const;
export const NOT_ACCEPTED = 'not-accepted' as const;

/** Codes of duplicates that were not sent: they stay with their dead letter, which waits for a person, or is settled. */
export const KNOWN_INVALID = 'known-invalid' as const;
export const KNOWN_SETTLED = 'known-settled' as const;

/** How many orders of a batch ended in each outcome. */
export type OutcomeCounts = Record<Outcome, number>;

/** How many orders of a batch have an outcome. */
export function countSettled(counts: OutcomeCounts): number {
  return OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
}

/** How many orders of a batch ended in an outcome that needs a person. */
export function countNeedingPerson(counts: OutcomeCounts): number {
  return OUTCOMES.filter(needsPerson).reduce((sum, outcome) => sum + counts[outcome], 0);
}

/** A tally with every outcome at zero. */
export function noOutcomes(): OutcomeCounts {
  return {
    accepted: 0,
    duplicate: 0,
    conflict: 0,
    invalid: 0,
    refused: 0,
    failed: 0,
    inDoubt: 0,
    cancelled: 0,
  };
}

/** One line of `results.csv`. */
export type OrderResult = {
  line: number;
  purchaseOrderNumber: string;
  outcome: Outcome;
  attempts: number;
  /** When the outcome was known; ISO 8601. */
  at: string;
  code: string;
  message: Sentence;
};

/** Of a cancelled batch that is finished: orders were accepted, and none was left to withdraw. */
export function isTooLate({
  accepted,
  cancelled,
}: Pick<OutcomeCounts, 'accepted' | 'cancelled'>): boolean {
  return accepted > 0 && cancelled === 0;
}

/** How a cancellation ended, as the state of its batch. */
export function cancelledWord(counts: Pick<OutcomeCounts, 'accepted' | 'cancelled'>): string {
  if (isTooLate(counts)) return 'cancelled too late';
  return counts.accepted > 0 ? 'partly cancelled' : 'cancelled';
}
