import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isGone, readJsonIfExists } from '../core/regular-file.ts';
import type { PauseCause } from '../ledger/pause-cause.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { CorrectionCounts } from '../order/dead-letter.ts';
import type { OutcomeCounts } from '../order/outcome.ts';
import type { FileFormat } from '../order/record.ts';
import type { Sentence } from '../order/sentence.ts';
import type { LeftOutOrders } from './left-out.ts';

/** `report.json`, version 1 (docs/reports.md). Times are ISO 8601 in UTC. */
export type Report = {
  version: 1;
  batch: string;
  environment: string;
  source: string;
  /** Corrects another batch. `readAs`: the source whose mapping reads it, where it is not its own. */
  isFixFile?: true;
  readAs?: string;
  file: string;
  /** A version of an export, which nobody can drop again. */
  isExport?: true;
  /** The person who submitted it at the admin port. */
  by?: string;
  sha256: string;
  bytes: number;
  format: FileFormat | null;
  /** The columns of a table, and the names of the list of items of objects. */
  header?: readonly string[];
  /** The mapping of several that the file has. */
  mapping?: string;
  items?: readonly string[];
  startedAt: string;
  finishedAt: string;
  state: 'finished' | 'unreadable' | 'cancelled';
  /** The person who cancelled what was not sent yet, which may have been nothing. */
  cancelledBy?: { at: string; who: string };
  error?: {
    code: string;
    message: string;
    remedy?: string;
    line?: number;
    column?: number;
  };
  counts: { records: number; orders: number; skipped: number } & OutcomeCounts;
  /** What a file that corrects a batch did. */
  corrections?: CorrectionCounts;
  /** How many of `counts.orders` are rows without an order number; absent if none are, and before the batch is finished. */
  nameless?: number;
  /** Orders that `skip` left out although they were accepted or are in progress; of an export, not those named before. */
  leftOut?: LeftOutOrders;
  warnings: string[];
  pauses: (PauseCause & { message: Sentence; from: string; to: string | null })[];
};

/** Whether the file was readable, and was changed after some or all of its orders were admitted. */
export function wasChanged({ error }: Pick<Report, 'error'>): boolean {
  return error?.code === 'unreadable-changed';
}

/** Whether somebody wanted to stop the file, also when nothing was left to withdraw. */
export function isCancelled({
  counts,
  cancelledBy,
}: Pick<Report, 'counts' | 'cancelledBy'>): boolean {
  return counts.cancelled > 0 || cancelledBy !== undefined;
}

/** What ends an unreadable version of an export: nobody can drop it. */
export const EXPORT_REMEDY =
  'Correct it in the program that writes it: po-sync reads its next complete version, and this one again with another mapping.';

/** The text of `report.json`. */
export function reportJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Reads `report.json` from a report's folder; undefined when it does not exist. */
export async function readReport(folder: string): Promise<Report | undefined> {
  return (await readJsonIfExists(join(folder, 'report.json'))) as Report | undefined;
}

/** Whether the report of a finished batch is still there; nobody knows while the folder of reports itself is away. */
export const lookForReport =
  (reports: string) =>
  async (batch: string): Promise<boolean> =>
    !(await isGone(join(reports, batch, 'report.json'))) || (await isGone(reports));

/** The names of the reports, the oldest first. */
export async function reportNames(reports: string): Promise<string[]> {
  return (await readdir(reports).catch((): string[] => []))
    .filter((name) => claimTimeOf(name) !== undefined)
    .sort();
}

/** The report of a batch of the environment that ended; undefined also for a copy of another report under this name. */
export async function readFinished(
  reports: string,
  batch: string,
  environment: string,
): Promise<Report | undefined> {
  const report = await readReport(join(reports, batch));
  const isOwn = report?.batch === batch && report.environment === environment;
  return isOwn ? report : undefined;
}
