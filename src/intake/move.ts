import { copyFile, link, open, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../core/errors.ts';

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
