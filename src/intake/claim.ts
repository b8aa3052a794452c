import type { Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { type ClaimedFile, nameBatch } from '../order/batch.ts';
import { folderError } from './folders.ts';
import { doneFileOf } from './names.ts';

/** Where an inbox keeps what is taken and not finished. */
export function processingOf(source: InboxSource): string {
  return path.join(source.path, 'processing');
}

/**
 * Takes a file out of an inbox by one rename, which only one daemon can win. `taken`: somebody else did, or it is gone.
 * PoSyncError `folder-missing` when the whole inbox is gone; EBUSY, EACCES and EPERM as the system tells them.
 */
export async function claimFile(file: string, source: InboxSource, at: Date): Promise<ClaimedFile | 'taken'> {
  const name = path.basename(file);
  const batch = nameBatch(at, source.name, name);
  const folder = path.join(processingOf(source), batch);
  const claimed: ClaimedFile = { batch, source: source.name, kind: 'inbox', name, path: path.join(folder, name) };
  await makeFolder(folder);
  try {
    await rename(file, claimed.path).catch((error: unknown) => renameAnyway(error, file, claimed.path));
  } catch (error) {
    await rmdir(folder);
    if (codeOf(error) === 'ENOENT') return 'taken';
    throw error;
  }
  if (source.doneFile) await rm(doneFileOf(file), { force: true });
  return claimed;
}

/** Makes the batch's folder, but never the inbox itself: where that is gone, a share may be unmounted. */
async function makeFolder(folder: string): Promise<void> {
  const processing = path.dirname(folder);
  try {
    await mkdir(processing).catch((error: unknown) => (codeOf(error) === 'EEXIST' ? undefined : Promise.reject(error)));
    await mkdir(folder);
  } catch (error) {
    throw folderError(error, path.dirname(processing));
  }
}

async function renameAnyway(error: unknown, from: string, to: string): Promise<void> {
  // An answer lost on a network share: the rename may have happened all the same.
  if (codeOf(error) === 'ENOENT' && (await exists(to))) return;
  if (codeOf(error) !== 'EXDEV') throw error;
  // A copy would not be exclusive: two daemons could both take the file.
  throw new PoSyncError('folder-trouble', `${path.dirname(from)} and its folder processing are two file systems.`, {
    remedy: 'Let processing be a plain folder of the inbox.',
    cause: error,
  });
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw new PoSyncError('file-trouble', `Cannot tell whether ${file} is there.`, { cause: error, facts: { file } });
  }
}

/** An empty folder that is younger may be a claim under way. */
const YOUNG = 60_000;

/** The files that lie claimed in an inbox, whoever claimed them; the oldest batch first. Sweeps empty folders. */
export async function leftClaims(source: InboxSource): Promise<ClaimedFile[]> {
  return filesIn(processingOf(source), source.name, 'inbox');
}

/** The copies of an export that lie in its spool; the oldest batch first. */
export async function leftCopies(spool: string, source: string): Promise<ClaimedFile[]> {
  return filesIn(spool, source, 'export');
}

async function filesIn(folder: string, source: string, kind: ClaimedFile['kind']): Promise<ClaimedFile[]> {
  const batches = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const claimed = await Promise.all(
    batches.sort().map(async (batch): Promise<ClaimedFile[]> => {
      const files = await entriesOf(path.join(folder, batch));
      if (files.every(isHidden)) await sweep(path.join(folder, batch), files);
      const [file] = files.filter((entry) => entry.isFile() && !isHidden(entry));
      return file ? [{ batch, source, kind, name: file.name, path: path.join(folder, batch, file.name) }] : [];
    }),
  );
  return claimed.flat();
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A copy that was broken off has a hidden name: it was never handed over. */
function isHidden({ name }: Dirent): boolean {
  return name.startsWith('.');
}

/** Only what was seen is removed: a claim that arrives meanwhile keeps its folder. */
async function sweep(folder: string, hidden: readonly Dirent[]): Promise<void> {
  try {
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs < YOUNG) return;
    for (const { name } of hidden) await rm(path.join(folder, name), { force: true });
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}
