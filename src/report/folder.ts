import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { DRAFT_NAME } from './draft.ts';
import { syncFolder } from './sync-folder.ts';
import { written } from './written.ts';

/** A draft that nobody has touched for so long belongs to a process that is gone. */
const ABANDONED = 60 * 60 * 1000;

/** Makes a report's folder, durably. Throws `report-not-written`. */
export async function makeFolder(folder: string): Promise<void> {
  await written(folder, async () => {
    const made = await makeAll(folder);
    if (made !== undefined) await syncFolder(dirname(made));
  });
}

/** The first folder that had to be made, if any. */
async function makeAll(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true });
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
    // What Node says where the disk is read-only; asked for this one folder it gives the reason.
    await mkdir(folder);
    return folder;
  }
}

/**
 * Removes the drafts that a killed process left in a folder. Their age is measured against the newest draft there, so
 * open one first: that is the disk's own clock, whichever machine it stands in.
 */
export async function clearDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const drafts = await Promise.all(
    names.filter((name) => DRAFT_NAME.test(name)).map((name) => aged(join(folder, name))),
  );
  const newest = Math.max(...drafts.map((draft) => draft.touched));
  const abandoned = drafts.filter((draft) => newest - draft.touched > ABANDONED);
  await Promise.all(abandoned.map((draft) => rm(draft.path, { force: true }).catch(() => undefined)));
}

async function aged(path: string): Promise<{ path: string; touched: number }> {
  const stat = await lstat(path).catch(() => undefined);
  return { path, touched: stat?.mtimeMs ?? 0 };
}
