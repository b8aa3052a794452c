import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Begins the name of a report's folder that is being emptied. */
const LEAVING = '.leaving-';

/** What a round removed, and what it could not, with the error. */
export type Expired = { removed: string[]; failed: { path: string; error: unknown }[] };

export type ReportExpiry = {
  /** The reports' folder. */
  path: string;
  /** How long a report is kept, in milliseconds. */
  keep: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether a batch still has dead letters that wait for a person: then its report stays whatever its age. */
  keepOpen: (batch: string) => Promise<boolean>;
};

/**
 * Removes the reports of batches older than `keep`, by the time in the batch's name. A report vanishes at once: its
 * folder is renamed before it is emptied. What is not named like a batch is left alone.
 */
export async function expireReports({ path, keep, now, keepOpen }: ReportExpiry): Promise<Expired> {
  const names = await foldersIn(path);
  const leftovers = names.filter((name) => name.startsWith(LEAVING));
  const old = names.filter((name) => isBefore(timeOfBatch(name), now - keep));
  const expired: Expired = { removed: [], failed: [] };
  for (const name of leftovers) await removeInto(expired, join(path, name), false);
  for (const name of old) {
    if (!(await keepOpen(name))) await removeInto(expired, join(path, name), true);
  }
  return expired;
}

/**
 * Removes the day folders (`2026-11-21`) of `done/` and `failed/` that ended more than `keep` milliseconds ago, with
 * all that lies in them.
 */
export async function expireSettled(inboxFolder: string, keep: number, now: number): Promise<Expired> {
  const expired: Expired = { removed: [], failed: [] };
  for (const settled of ['done', 'failed']) {
    const folder = join(inboxFolder, settled);
    const days = (await foldersIn(folder)).filter((name) => isBefore(endOfDay(name), now - keep));
    for (const day of days) await removeInto(expired, join(folder, day), false);
  }
  return expired;
}

async function removeInto(expired: Expired, path: string, renameFirst: boolean): Promise<void> {
  try {
    await rm(renameFirst ? await renamed(path) : path, { recursive: true, force: true });
    expired.removed.push(path);
  } catch (error) {
    expired.failed.push({ path, error });
  }
}

async function renamed(path: string): Promise<string> {
  const leaving = path.replace(/[^/\\]+$/, (name) => `${LEAVING}${name}`);
  await rename(path, leaving);
  return leaving;
}

/** Real folders only: a link is not ours to follow. */
async function foldersIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

function timeOfBatch(name: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(name);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** The end of the day wherever on Earth it was named so. */
function endOfDay(name: string): number {
  return /^\d{4}-\d\d-\d\d$/.test(name) ? Date.parse(`${name}T00:00:00Z`) + 1.5 * DAY : Number.NaN;
}

/** False for a time that is none. */
function isBefore(time: number, limit: number): boolean {
  return time < limit;
}
