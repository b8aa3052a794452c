import { access, constants, lstat, mkdir, opendir } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf, explained, PoSyncError, toError } from '../core/errors.ts';
import { folderIsLink, type OpenFolder, openFolder, openFolderBelow } from '../core/folder.ts';
import { fileMissing } from '../core/regular-file.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { isPrivate, takenNames } from './names.ts';
import { kindOf } from './stability.ts';

/** The folders that po-sync creates inside an inbox. */
export const OWN_FOLDERS = ['processing', 'done', 'failed', 'open'] as const;

/**
 * Opens a folder inside an inbox and creates it if missing, but never creates the inbox: a missing inbox may be an
 * unmounted share. PoSyncError `folder-is-link`, `folder-missing`, `folder-not-writable`, `folder-trouble`.
 */
export async function openOwnFolder(
  inbox: string,
  ...names: [string, ...string[]]
): Promise<OpenFolder> {
  await using opened = new AsyncDisposableStack();
  let folder = { path: inbox, shown: inbox };
  for (const [depth, name] of names.entries()) {
    const shown = path.join(inbox, ...names.slice(0, depth + 1));
    folder = opened.use(await createAndOpen(path.join(folder.path, name), shown, inbox));
  }
  const handles = opened.move();
  return { ...folder, [Symbol.asyncDispose]: () => handles.disposeAsync() };
}

async function createAndOpen(folder: string, shown: string, inbox: string): Promise<OpenFolder> {
  try {
    await mkdir(folder).catch((error: unknown) =>
      codeOf(error) === 'EEXIST' ? undefined : Promise.reject(error),
    );
    return await openFolder(folder, shown);
  } catch (error) {
    throw error instanceof PoSyncError
      ? error
      : folderError(error, codeOf(error) === 'ENOTDIR' ? shown : inbox);
  }
}

/**
 * Opens the folder of a claimed file: the returned path leads to the file in exactly that folder. Whoever may write to
 * an inbox can replace `processing` or a folder in it by a link, and would have a private file sent, or moved to `done`.
 * Other files are below `data`, where nobody else comes. PoSyncError `file-missing`, `folder-is-link`.
 */
export async function openClaim({
  kind,
  path: file,
}: Pick<ClaimedFile, 'kind' | 'path'>): Promise<OpenFolder> {
  if (kind !== 'inbox')
    return { path: file, shown: file, [Symbol.asyncDispose]: async () => undefined };
  const batch = path.dirname(file);
  const processing = path.dirname(batch);
  const names = [path.basename(processing), path.basename(batch)];
  const folder = await openFolderBelow(path.dirname(processing), names).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' ? fileMissing(file, error) : error;
  });
  return {
    path: path.join(folder.path, path.basename(file)),
    shown: file,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A claimed file is gone before it was read to its end or reported; who moved it or restored a backup can put it back. */
export function fileGone({
  batch,
  name,
  path: file,
}: Pick<ClaimedFile, 'batch' | 'name' | 'path'>): PoSyncError {
  const message = `${name} is missing from ${path.dirname(file)}: put it back there, or cancel the batch (po-sync batches cancel ${batch.slice(-8)})`;
  return new PoSyncError('file-missing', message, {
    remedy: 'Put the file back.',
    facts: { file },
  });
}

/** As `openClaim`; undefined when the file is put away already, or somebody removed it. */
export async function openIfClaimed(
  claimed: Parameters<typeof openClaim>[0],
): Promise<OpenFolder | undefined> {
  await using opened = new AsyncDisposableStack();
  try {
    const claim = opened.use(await openClaim(claimed));
    await lstat(claim.path);
    const kept = opened.move();
    return { ...claim, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'file-missing') return undefined;
    throw error;
  }
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

/** What intake does not read in an inbox because it is not a file or has another name: some of it, and how much there is. */
export type Ignored = { total: number; entries: { name: string; kind: string }[] };

/** Maximum number of names of an inbox that are looked at, and of those that are returned. */
const MOST_NAMES = 5_000;
const MOST_IGNORED = 5;

/**
 * Finds among the first names of an inbox what is not a file or has a name that it does not take. Rejects when the inbox
 * cannot be read.
 */
export async function ignoredIn(
  source: Pick<InboxSource, 'path' | 'files' | 'doneFile'>,
): Promise<Ignored> {
  const isTaken = takenNames(source);
  const own: ReadonlySet<string> = new Set(OWN_FOLDERS);
  const found: Ignored = { total: 0, entries: [] };
  let seen = 0;
  for await (const entry of await opendir(source.path)) {
    seen += 1;
    if (seen > MOST_NAMES) break;
    const { name } = entry;
    const isWanted = entry.isFile() && isTaken(name);
    if (isWanted || own.has(name) || isPrivate(name, source.doneFile)) continue;
    found.total += 1;
    const kind = entry.isFile() ? 'other name' : kindOf(entry);
    if (found.entries.length < MOST_IGNORED) found.entries.push({ name, kind });
  }
  return found;
}

/** Any other trouble with the file is reported by the daemon that takes it. */
export async function mayRead(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'EACCES' && codeOf(error) !== 'EPERM',
  );
}

/** Converts a system error about a folder into an error with a remedy. `key`: what names the folder in which file, if known. */
export function folderError(error: unknown, folder: string, key = ''): PoSyncError {
  const code = codeOf(error) ?? 'unknown';
  const more = { cause: error, facts: { folder, code } };
  switch (code) {
    case 'ENOENT':
      return new PoSyncError('folder-missing', `The folder ${folder} does not exist.`, {
        ...more,
        remedy: `If it was used before, mount its share or move it back. Create a new one with mkdir -p '${folder}', or correct ${key || 'its path in the configuration'}.`,
      });
    case 'ENOTDIR':
      return new PoSyncError('folder-missing', `${folder} is not a folder.`, {
        ...more,
        remedy: `Correct ${key || 'its path in the configuration, under sources if it is an inbox'}, or remove the file that has its name.`,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new PoSyncError(
        'folder-not-writable',
        `po-sync has no write permission for ${folder}.`,
        {
          ...more,
          remedy: `Give the user that runs po-sync permission to read, write and enter the folder${key && `, or correct ${key}`}.`,
        },
      );
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

/** What to do about what is not read. */
export const IGNORED_REMEDY =
  'An inbox takes only files, not folders and links, whose names match its `files`: rename or move what is an order file.';

/** `june (folder), a.csv (link) and 3 more`. */
export function ignoredText({ total, entries }: Ignored): string {
  const shown = entries.map(({ name, kind }) => `${name} (${kind})`).join(', ');
  return total === entries.length ? shown : `${shown} and ${total - entries.length} more`;
}
