import type { Order } from './order.ts';
import type { DeadLetterKind } from './outcome.ts';
import type { Problem } from './record.ts';

/** One entry of `dead-letters.json`. */
export type DeadLetter = {
  purchaseOrderNumber: string;
  kind: DeadLetterKind;
  stage: 'validation' | 'delivery' | 'reconciliation';
  code: string;
  message: string;
  problems?: Problem[];
  httpStatus?: number;
  /** The API's answer, shortened, as text. */
  response?: string;
  /** Equal for errors of one kind. */
  signature: string;
  attempts: number;
  firstAt: string;
  lastAt: string;
  location: { line: number; lines?: number[]; pointer?: string };
  payload?: unknown;
  /** A conflict's other content: the order with the same number that is known already. */
  known?: Order;
  /** `who`: the person that closed it, where it was not the order's own success. */
  closed?: { at: string; by: string; batch?: string; who?: string };
};
