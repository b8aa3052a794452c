import type { Outcome, OutcomeCounts } from '../order/outcome.ts';
import type { FileFormat, Problem } from '../order/record.ts';

/** `report.json`, version 1 (product.md, "Reports"). Times are ISO 8601 in UTC. */
export type Report = {
  version: 1;
  batch: string;
  environment: string;
  source: string;
  file: string;
  sha256: string;
  bytes: number;
  format: FileFormat | null;
  startedAt: string;
  finishedAt: string | null;
  state: 'running' | 'held' | 'finished' | 'unreadable';
  error?: { code: string; message: string; line?: number; column?: number };
  counts: { records: number; orders: number } & OutcomeCounts;
  /** Dead letters of this batch that still wait for a person. */
  open: number;
  warnings: string[];
  pauses: { reason: string; from: string; to: string | null }[];
};

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

/** One entry of `dead-letters.json`. */
export type DeadLetter = {
  purchaseOrderNumber: string;
  kind: 'conflict' | 'invalid' | 'refused' | 'failed' | 'inDoubt';
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
  closed?: { at: string; by: string; batch?: string };
};
