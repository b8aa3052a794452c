import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { type OpenFolder, openFolder } from '../core/folder.ts';
import { claimTimeOf } from '../order/batch.ts';

const DAY = 24 * 60 * 60 * 1000;

/** The prefix of a report folder that is being removed. */
const LEAVING = '.leaving-';

/** What was removed, and what could not be removed, with the error. */
export type Expired = { removed: string[]; failed: { path: string; error: unknown }[] };

export type ReportExpiry = {
  /** The reports' folder. */
  path: string;
  /** How long a report is kept, in milliseconds. */
  keep: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether a batch still has open dead letters: its report is kept independent of its age. */
  keepOpen: (batch: string) => Promise<boolean>;
};

/**
 * Removes the reports of batches older than `keep`, by the time in the batch's name. A folder is renamed before it is
 * emptied, so a report disappears at once. Other folders are left alone.
 */
export async function expireReports({ path, keep, now, keepOpen }: ReportExpiry): Promise<Expired> {
  const names = await foldersIn(path);
  const leftovers = names.filter((name) => name.startsWith(LEAVING));
  const old = names.filter((name) => isBefore(claimTimeOf(name), now - keep));
  const expired: Expired = { removed: [], failed: [] };
  for (const name of leftovers) await removeInto(expired, join(path, name), false);
  for (const name of old) {
    if (!(await keepOpen(name))) await removeInto(expired, join(path, name), true);
  }
  return expired;
}

/** Removes the day folders (`2026-11-21`) of `done/` and `failed/` that ended more than `keep` milliseconds ago. */
export async function expireSettled(
  inboxFolder: string,
  keep: number,
  now: number,
): Promise<Expired> {
  const expired: Expired = { removed: [], failed: [] };
  for (const settled of ['done', 'failed']) {
    const folder = join(inboxFolder, settled);
    // The handle keeps a link that replaces the folder from leading the removal elsewhere.
    await using opened = await openIfExists(folder);
    if (opened === undefined) continue;
    const days = (await foldersIn(opened.path)).filter((name) =>
      isBefore(endOfDay(name), now - keep),
    );
    for (const day of days)
      await removeInto(expired, join(folder, day), false, join(opened.path, day));
  }
  return expired;
}

async function openIfExists(folder: string): Promise<OpenFolder | undefined> {
  try {
    return await openFolder(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function removeInto(
  expired: Expired,
  path: string,
  renameFirst: boolean,
  at = path,
): Promise<void> {
  try {
    await rm(renameFirst ? await renamed(path) : at, { recursive: true, force: true });
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

/** Folders only; links are not followed. */
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

/** The end of the day in the last time zone; undefined for a name that is not a day. */
function endOfDay(name: string): number | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(name) ? Date.parse(`${name}T00:00:00Z`) + 1.5 * DAY : undefined;
}

function isBefore(time: number | undefined, limit: number): boolean {
  return time !== undefined && time < limit;
}
