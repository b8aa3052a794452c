import type { OutcomeCounts } from '../order/outcome.ts';
import type { FileFormat } from '../order/record.ts';

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
