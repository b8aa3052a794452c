import type { Item } from '../order/order.ts';
import type { Outcome } from '../order/outcome.ts';

/**
 * The result of an order that was not simply accepted; kept with its batch until the report is written.
 * Times are milliseconds.
 */
export type StoredResult = {
  outcome: Outcome;
  attempts: number;
  at: number;
  firstAt?: number;
  code: string;
  message: string;
  httpStatus?: number;
  response?: string;
  /** Of a conflict: the other content. */
  known?: { items: readonly Item[] };
};
