import { copyFile, link, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { folderError } from './folders.ts';
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

/**
 * Moves a file to a name that nobody has yet: false, and nothing moved, when somebody has it. Also across file
 * systems, and where there are no hard links. Broken off in the middle and begun again, it ends the same.
 */
export async function moveToFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    await unlink(from);
    return true;
  } catch (error) {
    switch (codeOf(error) ?? '') {
      case 'EEXIST':
        return await finishMove(from, to);
      case 'EXDEV':
        return await copyToFree(from, to);
      case 'EPERM':
      case 'ENOSYS':
      case 'ENOTSUP':
      case 'EOPNOTSUPP':
      case 'EMLINK':
        return await renameToFree(from, to);
      default:
        throw error;
    }
  }
}

/** `to` may be the same file, left by a move that ended after its first half. */
async function finishMove(from: string, to: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(from, { bigint: true }), stat(to, { bigint: true })]);
  if (a.ino !== b.ino || a.dev !== b.dev) return false;
  await unlink(from);
  return true;
}

/** Takes the name by an empty file, which the rename then replaces. */
async function renameToFree(from: string, to: string): Promise<boolean> {
  if (!(await reserve(to))) return false;
  await rename(from, to);
  return true;
}

async function copyToFree(from: string, to: string): Promise<boolean> {
  if (!(await reserve(to))) return false;
  await moveAcross(from, to);
  return true;
}

async function reserve(to: string): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function syncFile(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.sync();
}

/** Moves a file to another file system: it appears there whole, and only then goes here. */
async function moveAcross(from: string, to: string): Promise<void> {
  const draft = path.join(path.dirname(to), `.${path.basename(to).slice(0, 60)}.part`);
  try {
    await copyFile(from, draft);
    await syncFile(draft);
    await rename(draft, to);
  } finally {
    await rm(draft, { force: true });
  }
  await unlink(from);
}
