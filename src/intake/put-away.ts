import { constants, type PathLike } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { named } from '../core/folder.ts';
import { draftPath, syncFile } from '../core/regular-file.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { openClaim, openOwnFolder } from './folders.ts';
import { uniqueName } from './names.ts';

/**
 * Moves a finished file to `done/<day>/` or `failed/<day>/` of its inbox and returns its new path. Its name is kept or
 * made unique; no file is overwritten and no link is followed. Repeated after a crash, it completes or finds the file.
 * PoSyncError `file-missing` when the file is nowhere; `folder-…` as `openOwnFolder`.
 */
export async function settleFile(
  claimed: ClaimedFile,
  source: InboxSource,
  where: 'done' | 'failed',
  at: Date,
): Promise<string> {
  const day = at.toISOString().slice(0, 10);
  await using folder = await openOwnFolder(source.path, where, day);
  const own = uniqueName(claimed.name, claimed.batch);
  const free = uniqueName(claimed.name, undefined);
  try {
    await using claim = await openClaim(claimed);
    const moveTo = (name: string) =>
      named(moveToFree(claim.path, path.join(folder.path, name)), claim, folder);
    const settled = (await moveTo(free)) ? free : own;
    if (settled === own && !(await moveTo(own))) {
      throw nameTaken(path.join(source.path, where, day, own));
    }
    await removeFolder(path.dirname(claimed.path));
    return path.join(source.path, where, day, settled);
  } catch (error) {
    if (!['ENOENT', 'file-missing'].includes(codeOf(error) ?? '')) throw error;
    await removeFolder(path.dirname(claimed.path));
    return await findSettled(claimed, path.join(source.path, where));
  }
}

/** Removes the copy of a finished export, with its folder. */
export async function dropCopy(claimed: ClaimedFile): Promise<void> {
  await rm(claimed.path, { force: true });
  await removeFolder(path.dirname(claimed.path));
}

/**
 * Moves a file to a name that is still free; false if the name is taken. Works across file systems and without hard
 * links. Repeated after an interruption, it gives the same result.
 */
async function moveToFree(from: PathLike, to: string): Promise<boolean> {
  try {
    await link(from, to);
    await unlink(from);
    return true;
  } catch (error) {
    switch (codeOf(error) ?? '') {
      case 'EEXIST':
        return await finishMove(from, to);
      case 'EXDEV':
        return await moveToReserved(to, () => moveAcross(from, to));
      // Also the kernel's refusal to link files of other users (fs.protected_hardlinks).
      case 'EPERM':
      case 'ENOSYS':
      case 'ENOTSUP':
      case 'EOPNOTSUPP':
      case 'EMLINK':
        return await moveToReserved(to, () => rename(from, to));
      default:
        throw error;
    }
  }
}

/** `to` is the same file if an earlier move was interrupted between link and unlink. */
async function finishMove(from: PathLike, to: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  if (a.ino !== b.ino || a.dev !== b.dev) return false;
  await unlink(from);
  return true;
}

/** Reserves the name with an empty file, which the move then replaces. */
async function moveToReserved(to: string, move: () => Promise<void>): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await move();
    return true;
  } catch (error) {
    if ((await stat(to)).size === 0) await rm(to, { force: true });
    throw error;
  }
}

/** Moves a file to another file system: it appears there complete before it disappears here. */
async function moveAcross(from: PathLike, to: string): Promise<void> {
  const draft = draftPath(path.dirname(to));
  try {
    await copyFile(from, draft, constants.COPYFILE_EXCL);
    await syncFile(draft);
    await rename(draft, to);
  } finally {
    await rm(draft, { force: true });
  }
  await unlink(from);
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

/** Finds a file that was moved before: first by the name with its batch, on the newest day first. */
async function findSettled(claimed: ClaimedFile, where: string): Promise<string> {
  const days = (await readdir(where)).sort().reverse();
  for (const name of [
    uniqueName(claimed.name, claimed.batch),
    uniqueName(claimed.name, undefined),
  ]) {
    for (const day of days) {
      const file = path.join(where, day, name);
      if (await isFile(file)) return file;
    }
  }
  throw new PoSyncError('file-missing', `The claimed file ${claimed.path} has disappeared.`, {
    remedy:
      'Restore it, or drop the complete file again. Only po-sync may move files out of processing/.',
    facts: { file: claimed.path },
  });
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isFile();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

function nameTaken(file: string): PoSyncError {
  return new PoSyncError('file-trouble', `Another file named ${file} already exists.`, {
    remedy: 'Move that file elsewhere.',
    facts: { file },
  });
}
