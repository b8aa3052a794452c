/** What became of an order; the eight add up to the orders of a finished batch (product.md, "What becomes of an order"). */
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

/** The outcomes that end as a dead letter: a person is needed. */
export type DeadLetterKind = 'conflict' | 'invalid' | 'refused' | 'failed' | 'inDoubt';

/** Whether an outcome leaves a dead letter behind. */
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

/** How many orders of a batch ended in each outcome. */
export type OutcomeCounts = Record<Outcome, number>;

/** A tally with every outcome at zero. */
export function noOutcomes(): OutcomeCounts {
  return { accepted: 0, duplicate: 0, conflict: 0, invalid: 0, refused: 0, failed: 0, inDoubt: 0, cancelled: 0 };
}
