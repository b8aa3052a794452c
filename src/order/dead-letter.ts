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
  /** `who`: the person that closed it, where it was not the order's own success. */
  closed?: { at: string; by: string; batch?: string; who?: string };
};
