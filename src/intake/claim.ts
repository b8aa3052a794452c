import type { Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { named, openFolder } from '../core/folder.ts';
import { openRegularFile } from '../core/regular-file.ts';
import { type ClaimedFile, claimTimeOf, nameBatch } from '../order/batch.ts';
import { folderError, openOwnFolder } from './folders.ts';
import { doneFileOf } from './names.ts';
import { byAge } from './stability.ts';

/** The folder of an inbox that contains claimed files. */
export const PROCESSING = 'processing';
/** A younger empty folder may belong to a claim in progress. Milliseconds. */
const YOUNG = 60_000;

/**
 * Claims a file of an inbox by one rename, which only one daemon can win; `taken` if another daemon won or the file is
 * gone. PoSyncError `file-not-readable`, `file-not-movable`, `not-a-file`, `folder-…`; EBUSY unchanged.
 */
export async function claimFile(
  file: string,
  source: InboxSource,
  at: Date,
): Promise<ClaimedFile | 'taken'> {
  const name = path.basename(file);
  const batch = nameBatch(at, source.name, name);
  const place = path.join(source.path, PROCESSING, batch, name);
  const claimed: ClaimedFile = { batch, source: source.name, kind: 'inbox', name, path: place };
  await using processing = await openOwnFolder(source.path, PROCESSING);
  if (!(await canRead(file))) return 'taken';
  const folder = path.join(processing.path, batch);
  await mkdir(folder).catch((error: unknown) => Promise.reject(folderError(error, source.path)));
  try {
    const to = path.join(folder, name);
    const moving = rename(file, to).catch((error: unknown) =>
      unlessRenamed(error, file, to, place),
    );
    await named(moving, processing);
  } catch (error) {
    await rmdir(folder);
    if (codeOf(error) === 'ENOENT') return 'taken';
    throw error;
  }
  if (source.doneFile) await rm(doneFileOf(file), { force: true });
  return claimed;
}

/** A claimed file that cannot be read would be retried forever; unclaimed, its owner sees it. False: it is gone. */
async function canRead(file: string): Promise<boolean> {
  try {
    await (await openRegularFile(file)).close();
    return true;
  } catch (error) {
    if (codeOf(error) !== 'file-missing') throw error;
    return false;
  }
}

/** On a network share a rename can succeed although its reply was lost. `place`: the path of `to` for people. */
async function unlessRenamed(
  error: unknown,
  from: string,
  to: string,
  place: string,
): Promise<void> {
  if (codeOf(error) === 'ENOENT' && (await exists(to))) return;
  if (codeOf(error) === 'EPERM' || codeOf(error) === 'EACCES') throw notMovable(error, from, place);
  if (codeOf(error) !== 'EXDEV') throw error;
  // A copy would not be exclusive: two daemons could both take the file.
  throw new PoSyncError(
    'folder-trouble',
    `${path.dirname(from)} and its folder processing are on two file systems.`,
    {
      remedy: 'Make processing a plain folder of the inbox.',
      cause: error,
    },
  );
}

function notMovable(cause: unknown, file: string, place: string): PoSyncError {
  const folder = path.dirname(file);
  const message = `No permission to move ${file} to ${path.dirname(place)}.`;
  return new PoSyncError('file-not-movable', message, {
    remedy: `Give the user that runs po-sync write permission for ${folder}, without a sticky bit (chmod -t); the file may also be immutable (lsattr).`,
    cause,
    facts: { file },
  });
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw new PoSyncError('file-trouble', `Cannot check whether ${file} exists.`, {
      cause: error,
      facts: { file },
    });
  }
}

/** The claimed files in an inbox, of all daemons, the oldest batch first. Removes old empty folders. */
export async function leftClaims(source: InboxSource): Promise<ClaimedFile[]> {
  return filesIn(path.join(source.path, PROCESSING), source.name, 'inbox');
}

/** The files in the folders of batches below `folder`, the oldest batch first. Removes old empty folders. */
export async function filesIn(
  folder: string,
  source: string,
  kind: ClaimedFile['kind'],
): Promise<ClaimedFile[]> {
  const batches = (await entriesOf(folder))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const found = await Promise.all(
    batches.map(async (batch) => {
      const files = await entriesOf(path.join(folder, batch));
      if (files.every(isHidden)) await sweep(path.join(folder, batch));
      const own = files.find((entry) => entry.isFile() && !isHidden(entry));
      if (own === undefined) return [];
      const file = path.join(folder, batch, own.name);
      const stats = await lstat(file, { bigint: true }).catch(() => undefined);
      const claimed: ClaimedFile = { batch, source, kind, name: own.name, path: file };
      return [{ file, mtimeNs: stats?.mtimeNs ?? 0n, at: claimTimeOf(batch) ?? 0, claimed }];
    }),
  );
  // The name of a batch says only in which second.
  const sorted = found.flat().sort((a, b) => a.at - b.at || byAge(a, b));
  return sorted.map(({ claimed }) => claimed);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    await using opened = await openFolder(folder);
    return await named(readdir(opened.path, { withFileTypes: true }), opened);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** An interrupted copy has a hidden name; it was never handed over. */
function isHidden({ name }: Dirent): boolean {
  return name.startsWith('.');
}

/** Removes only hidden files: a claim that arrives meanwhile keeps its folder. */
async function sweep(folder: string): Promise<void> {
  try {
    await using opened = await openFolder(folder);
    const { mtimeMs } = await stat(opened.path);
    if (Date.now() - mtimeMs < YOUNG) return;
    const hidden = (await readdir(opened.path, { withFileTypes: true })).filter(isHidden);
    for (const { name } of hidden) await rm(path.join(opened.path, name), { force: true });
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}
