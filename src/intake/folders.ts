import { lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, explained, PoSyncError, toError } from '../core/errors.ts';
import { folderIsLink, type OpenFolder, openFolder, openFolderBelow } from '../core/folder.ts';
import { fileMissing } from '../core/regular-file.ts';
import type { ClaimedFile } from '../order/batch.ts';

/** The folders that po-sync creates inside an inbox. */
export const OWN_FOLDERS = ['processing', 'done', 'failed'] as const;

/**
 * Opens a folder inside an inbox and creates it if missing, but never creates the inbox: a missing inbox may be an
 * unmounted share. PoSyncError `folder-is-link`, `folder-missing`, `folder-not-writable`, `folder-trouble`.
 */
export async function openOwnFolder(inbox: string, ...names: [string, ...string[]]): Promise<OpenFolder> {
  await using opened = new AsyncDisposableStack();
  let parent = inbox;
  let folder: OpenFolder | undefined;
  for (const [depth, name] of names.entries()) {
    const shown = path.join(inbox, ...names.slice(0, depth + 1));
    folder = opened.use(await createAndOpen(path.join(parent, name), shown, inbox));
    parent = folder.path;
  }
  const handles = opened.move();
  return { path: parent, [Symbol.asyncDispose]: () => handles.disposeAsync() };
}

async function createAndOpen(folder: string, shown: string, inbox: string): Promise<OpenFolder> {
  try {
    await mkdir(folder).catch((error: unknown) => (codeOf(error) === 'EEXIST' ? undefined : Promise.reject(error)));
    return await openFolder(folder, shown);
  } catch (error) {
    throw error instanceof PoSyncError ? error : folderError(error, codeOf(error) === 'ENOTDIR' ? shown : inbox);
  }
}

/**
 * Opens the folder of a claimed file: the returned path leads to the file in exactly that folder. Whoever may write to
 * an inbox can replace `processing` or a folder in it by a link, and would have a private file sent, or moved to `done`.
 * Other files are below `data`, where nobody else comes. PoSyncError `file-missing`, `folder-is-link`.
 */
export async function openClaim({ kind, path: file }: Pick<ClaimedFile, 'kind' | 'path'>): Promise<OpenFolder> {
  if (kind !== 'inbox') return { path: file, [Symbol.asyncDispose]: async () => undefined };
  const batch = path.dirname(file);
  const processing = path.dirname(batch);
  const names = [path.basename(processing), path.basename(batch)];
  const folder = await openFolderBelow(path.dirname(processing), names).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' ? fileMissing(file, error) : error;
  });
  return {
    path: path.join(folder.path, path.basename(file)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Refuses an inbox in which one of our folders is a link: files would leave the inbox. PoSyncError `folder-is-link`. */
export async function refuseLinkedFolders(inbox: string): Promise<void> {
  for (const name of OWN_FOLDERS) {
    const folder = path.join(inbox, name);
    const found = await lstat(folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
      throw folderError(error, inbox);
    });
    if (found?.isSymbolicLink()) throw folderIsLink(folder);
  }
}

/** Converts a system error about a folder into an error with a remedy. */
export function folderError(error: unknown, folder: string): PoSyncError {
  const code = codeOf(error) ?? 'unknown';
  const more = { cause: error, facts: { folder, code } };
  switch (code) {
    case 'ENOENT':
      return new PoSyncError('folder-missing', `The folder ${folder} does not exist.`, {
        ...more,
        remedy: `Create it (mkdir -p '${folder}'), mount its share, or correct the path of the source.`,
      });
    case 'ENOTDIR':
      return new PoSyncError('folder-missing', `${folder} is not a folder.`, {
        ...more,
        remedy: 'Correct the path of the source.',
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new PoSyncError('folder-not-writable', `po-sync has no write permission for ${folder}.`, {
        ...more,
        remedy: 'Give the user of po-sync permission to read, write and enter the folder.',
      });
    default:
      return new PoSyncError('folder-trouble', `${folder}: ${toError(error).message}`, {
        ...more,
        ...remedyFor(error),
      });
  }
}

function remedyFor(error: unknown): { remedy?: string } {
  const known = explained(error);
  return known instanceof PoSyncError && known.remedy !== undefined ? { remedy: known.remedy } : {};
}
