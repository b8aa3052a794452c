import type { Outcome } from './outcome.ts';

/** One line of `results.csv`, whatever the outcome. */
export type OrderResult = {
  line: number;
  purchaseOrderNumber: string;
  outcome: Outcome;
  attempts: number;
  /** When the outcome was known. */
  at: string;
  code: string;
  message: string;
};
