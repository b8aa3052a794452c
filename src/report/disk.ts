import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { makePath } from '../core/folder.ts';
import { openRegularFile, syncFolder } from '../core/regular-file.ts';
import { shownPath } from '../core/shown-path.ts';

/** Runs `work` on the file system and turns its failure into `report-not-written` with the path. */
export async function written<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof PoSyncError) throw thrown;
    const code = codeOf(thrown) ?? 'unknown';
    throw new PoSyncError(
      'report-not-written',
      `${shownPath(path)} could not be written: ${reasonOf(thrown)}.`,
      {
        remedy:
          'Make room there, and let the user that runs po-sync write. Orders are still delivered; the report is written as soon as that is possible.',
        facts: { path: shownPath(path), reason: code },
        cause: thrown,
      },
    );
  }
}

/** Where the words of the system do not say it. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'po-sync has no permission to write there',
  EPERM: 'po-sync has no permission to write there',
};

function reasonOf(thrown: unknown): string {
  const code = codeOf(thrown) ?? '';
  const reason = REASONS[code];
  if (reason === undefined) return toError(thrown).message;
  return `${reason} (${code})`;
}

/** Creates a report's folder durably. Throws `report-not-written`. */
export async function makeFolder(folder: string): Promise<void> {
  await written(folder, async () => {
    const made = await makePath(folder);
    if (made !== undefined) await syncFolder(dirname(made));
  });
}

/** Whether two paths are regular files with the same content. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([lstat(one), lstat(other)]);
  if (!left.isFile() || !right.isFile() || left.size !== right.size) return false;
  return (await hashOf(one)) === (await hashOf(other));
}

async function hashOf(path: string): Promise<string> {
  await using handle = await openRegularFile(path);
  const hash = createHash('sha256');
  await pipeline(handle.createReadStream({ autoClose: false }), hash);
  return hash.digest('hex');
}
