import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import { readJsonIfExists } from '../core/regular-file.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { CorrectionCounts } from '../order/dead-letter.ts';
import type { OutcomeCounts } from '../order/outcome.ts';
import type { FileFormat } from '../order/record.ts';
import type { FileWaitJson } from '../wording/file-wait.ts';
import type { LeftOutOrders } from './left-out.ts';
import type { Elsewhere } from './story.ts';

/** A version of an export: its file, where that is not `file`, digests of the mapping and of the API's address, and with `newestOnly` when it changed last. */
export type ReadVersion = {
  origin?: string;
  readWith?: string;
  readFor?: string;
  changedAt?: string;
};

/** `report.json`, version 1 (docs/reports.md). Times are ISO 8601 in UTC. */
export type Report = ReadVersion & {
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
  finishedAt: string | null;
  state: 'running' | 'waiting' | 'finished' | 'unreadable';
  waits?: FileWaitJson;
  /** The person who cancelled what was not sent yet, which may have been nothing. */
  cancelledBy?: { at: string; who: string };
  /** `text`: the line of the file that the error names, cut around its column. */
  error?: {
    code: string;
    message: string;
    remedy?: string;
    line?: number;
    column?: number;
    text?: string;
  };
  /** Of an unreadable file: the batch of a later one with its source and name that could be read; since when it is removed. */
  replacedBy?: string;
  removedAt?: string | undefined;
  /** The first and the last other batch of the same source that read the same content, its file, and when it began. */
  repeats?: { batch: string; file: string; at: string };
  repeatedBy?: { batch: string; file?: string; at: string };
  counts: { records: number; orders: number } & OutcomeCounts;
  /** What a file that corrects a batch did. */
  corrections?: CorrectionCounts;
  /** How many of `counts.orders` are rows without an order number; absent if none are, and before the batch is finished. */
  nameless?: number;
  /** What `counts` does not say: orders accepted later (`ofRows`: rows without a number), those that others sent, discarded ones, ordered before, and those that newer files brought back. */
  acceptedLater?: { orders: number; ofRows: number } | undefined;
  acceptedElsewhere?: number | undefined;
  discarded?: number | undefined;
  openElsewhere?: Elsewhere | undefined;
  orderedBefore?: { same: number; other: number; files?: string[]; batches?: string[] } | undefined;
  /** Orders that `skip` left out although they were accepted or are in progress; of an export, not those named before. */
  leftOut?: LeftOutOrders;
  /** The folder in which to drop a corrected file. */
  inbox?: string;
  /** The page of the dashboard that explains every situation, where the address of the dashboard is known. */
  help?: string;
  open: number;
  warnings: string[];
  pauses: { reason: string; from: string; to: string | null }[];
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
const NEXT_VERSION =
  'po-sync reads the next complete version of the export; nobody has to do anything here.';
const READ_AGAIN =
  'po-sync reads the export again when the daemon was restarted with another mapping, or when it is written again.';

/** The remedy of an unreadable version of an export: the program that writes it replaces it. */
export function exportRemedy(own = 'Correct it in the program that writes it.'): string {
  const alone = own.replace('Drop the complete file again.', NEXT_VERSION);
  return alone === own
    ? `${own.replace('Drop the complete file again, or c', 'C')} ${READ_AGAIN}`
    : alone;
}

/** Whether a remedy is one of `exportRemedy`. */
export function isForExport(remedy: string): boolean {
  return [NEXT_VERSION, READ_AGAIN].some((text) => remedy.includes(text));
}

/** Addresses at which a server listens, and to which no browser can go. */
const ANY = ['0.0.0.0', '[::]', '[::ffff:0:0]'];

/** `help` of a report. Nobody knows beforehand which port a daemon gets that takes any free one. */
export function helpAddress({
  admin: { host, port, publicUrl },
}: Pick<Config, 'admin'>): string | undefined {
  const own = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  const base = publicUrl ?? (port === 0 ? '' : own);
  if (!URL.canParse(base) || ANY.includes(new URL(base).hostname)) return undefined;
  return new URL('/for-clerks', base).href;
}

/** The text of `report.json`. */
export function reportJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Whether a report's folder has the results of its orders, and not only the progress. */
export async function hasOrders(folder: string): Promise<boolean> {
  const unlessMissing = (error: unknown): string[] | Promise<never> =>
    codeOf(error) === 'ENOENT' ? [] : Promise.reject(error);
  return (await readdir(folder).catch(unlessMissing)).includes('results.csv');
}

/** Reads `report.json` from a report's folder; undefined when it does not exist. */
export async function readReport(folder: string): Promise<Report | undefined> {
  return (await readJsonIfExists(join(folder, 'report.json'))) as Report | undefined;
}

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
  return isOwn && report.finishedAt !== null ? report : undefined;
}
