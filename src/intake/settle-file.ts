import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { folderError } from './folder-error.ts';
import { moveToFree } from './move.ts';
import { uniqueName } from './names.ts';

/**
 * Moves a finished file to `done/<day>/` or `failed/<day>/` of its inbox and tells where it lies now. Its name is kept,
 * or made unique; nothing is ever overwritten. Called again after a crash in between, it finishes, or finds the file.
 */
export async function settleFile(
  claimed: ClaimedFile,
  source: InboxSource,
  where: 'done' | 'failed',
  at: Date,
): Promise<string> {
  const folder = path.join(source.path, where, at.toISOString().slice(0, 10));
  await makeFolder(path.dirname(folder), source);
  await makeFolder(folder, source);
  const own = path.join(folder, uniqueName(claimed.name, claimed.batch));
  const free = path.join(folder, uniqueName(claimed.name, undefined));
  try {
    const settled = (await moveToFree(claimed.path, free)) ? free : own;
    if (settled === own && !(await moveToFree(claimed.path, own))) throw nameTaken(own);
    await removeFolder(path.dirname(claimed.path));
    return settled;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await removeFolder(path.dirname(claimed.path));
    return await findSettled(claimed, path.join(source.path, where));
  }
}

/** Makes a folder, but never the inbox itself: where that is gone, a share may be unmounted. */
async function makeFolder(folder: string, source: InboxSource): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw folderError(error, source.path);
  }
}

function nameTaken(file: string): PoSyncError {
  return new PoSyncError('file-trouble', `There is another file ${file} already.`, {
    remedy: 'Move it elsewhere.',
    facts: { file },
  });
}

/** Removes the copy of an export that is finished, with its folder. */
export async function dropCopy(claimed: ClaimedFile): Promise<void> {
  await rm(claimed.path, { force: true });
  await removeFolder(path.dirname(claimed.path));
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

/** The file was moved before: under its batch's own name if it has that, on the newest day first. */
async function findSettled(claimed: ClaimedFile, where: string): Promise<string> {
  const days = (await readdir(where)).sort().reverse();
  for (const name of [uniqueName(claimed.name, claimed.batch), uniqueName(claimed.name, undefined)]) {
    for (const day of days) {
      const file = path.join(where, day, name);
      if (await isFile(file)) return file;
    }
  }
  throw new PoSyncError('file-missing', `The claimed file ${claimed.path} is gone.`, { facts: { file: claimed.path } });
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
