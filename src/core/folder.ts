import { randomBytes } from 'node:crypto';
import { constants, mkdirSync, statSync } from 'node:fs';
import { access, chmod, lstat, mkdir, open, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { codeOf, PoSyncError } from './errors.ts';
import { showPaths } from './shown-path.ts';

/**
 * An open folder, or a file in it. On Linux `path` addresses exactly this one, even if somebody replaces its name meanwhile;
 * `shown` is the path that people know.
 */
export type OpenFolder = AsyncDisposable & { readonly path: string; readonly shown: string };

/** Waits for work in open folders; its errors name the paths that people know. */
export async function named<T>(work: Promise<T>, ...folders: OpenFolder[]): Promise<T> {
  const show = (text: string) =>
    folders.reduce((rest, { path, shown }) => rest.replaceAll(path, shown), text);
  return work.catch((error: unknown) => Promise.reject(showPaths(error, show)));
}

/**
 * Opens a folder without following a link at its last step. `shown` is the path for messages.
 * PoSyncError `folder-is-link`; other errors (ENOENT, ENOTDIR, EACCES) unchanged.
 */
export async function openFolder(folder: string, shown = folder): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(
    async (error: unknown) => {
      throw (await isLink(folder)) ? folderIsLink(shown) : error;
    },
  );
  const byHandle = `/proc/self/fd/${handle.fd}`;
  const hasHandles = await access(byHandle).then(
    () => true,
    () => false,
  );
  const path = hasHandles ? byHandle : folder;
  return { path, shown, [Symbol.asyncDispose]: () => handle.close() };
}

/** Opens the folder that `names` lead to below `root`, and follows a link at none of them. Errors as `openFolder`. */
export async function openFolderBelow(root: string, names: readonly string[]): Promise<OpenFolder> {
  await using opened = new AsyncDisposableStack();
  let folder = { path: root, shown: root };
  for (const [depth, name] of names.entries()) {
    const shown = path.join(root, ...names.slice(0, depth + 1));
    folder = opened.use(await openFolder(path.join(folder.path, name), shown));
  }
  const handles = opened.move();
  return { ...folder, [Symbol.asyncDispose]: () => handles.disposeAsync() };
}

/** Opens the folder of a file, as `openFolder`. A path that leads through an open folder is safe already. */
export async function openParent(file: string): Promise<OpenFolder> {
  const folder = path.dirname(file);
  return HANDLE.test(folder)
    ? { path: folder, shown: folder, [Symbol.asyncDispose]: async () => undefined }
    : openFolder(folder);
}

const HANDLE = /^\/proc\/self\/fd\/\d+(?:\/|$)/;

/** The error for a link where only a plain folder is safe. */
export function folderIsLink(folder: string): PoSyncError {
  return new PoSyncError(
    'folder-is-link',
    `${folder} is a link, and po-sync does not follow links there.`,
    {
      remedy: 'Replace the link with a plain folder.',
      facts: { folder },
    },
  );
}

async function isLink(folder: string): Promise<boolean> {
  try {
    return (await lstat(folder)).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The mode of folders that only the user that runs po-sync may enter: `data` and everything below it. */
export const PRIVATE_FOLDER = 0o700;

/** Folders that `makePath` does not create again. */
const kept = new Set<string>();

/**
 * From now on `makePath` does not create this folder again: when it vanishes, its disk is away, and files would land on
 * another one. Disposing ends that.
 */
export function keepFolder(folder: string): Disposable {
  const place = path.resolve(folder);
  kept.add(place);
  return { [Symbol.dispose]: () => void kept.delete(place) };
}

/** PoSyncError `folder-gone` for a kept folder that vanished. */
async function requireKept(folder: string): Promise<undefined> {
  await stat(folder).catch((cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new PoSyncError('folder-gone', `${folder} was there when po-sync started, and is gone.`, {
      remedy: GONE_REMEDY,
      facts: { folder },
      cause,
    });
  });
}

/** What helps when a folder of a running daemon vanished. */
export const GONE_REMEDY =
  'Mount its disk, or move the folder back: po-sync then continues. It does not create the folder again before a restart.';

/**
 * Creates a folder with those above it, and returns the first that had to be created. The recursive `mkdir` of Node does
 * not end where a folder cannot exist, as in /proc, and hides why on a read-only disk. System errors, and PoSyncError
 * `folder-gone` where a kept folder is missing.
 */
export async function makePath(folder: string, mode?: number): Promise<string | undefined> {
  if (kept.has(path.resolve(folder))) return requireKept(folder);
  try {
    await mkdir(folder, { mode });
    return folder;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(folder)).isDirectory()) return undefined;
    if (!isParentMissing(folder, error)) throw error;
  }
  const first = await makePath(path.dirname(folder), mode);
  await mkdir(folder, { mode }).catch(unlessThere);
  return first ?? folder;
}

/** The same, at once. */
export function makePathSync(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, { mode });
    return;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (!isParentMissing(folder, error)) throw error;
  }
  makePathSync(path.dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    unlessThere(error);
  }
}

function isParentMissing(folder: string, error: unknown): boolean {
  return codeOf(error) === 'ENOENT' && path.dirname(folder) !== folder;
}

/** Another process was faster. */
function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

/** The permissions of a network share are not reliable: only a test write shows whether a folder is writable. System errors. */
export async function tryWriting(folder: string): Promise<void> {
  const probe = path.join(folder, `.po-sync-probe-${randomBytes(4).toString('hex')}.tmp`);
  try {
    await writeFile(probe, '', { flag: 'wx' });
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

/** Permission of other users to write. */
const OTHERS_WRITE = 0o002;
/** In such a folder everybody may create files, and only their owner may remove them. */
const STICKY = 0o1000;

/**
 * Makes sure that no other user can replace what is in a folder of po-sync, its Redis included: removes the permissions
 * `closed` from the mode of a folder of this user, and refuses one that another user owns. Folders of root are root's
 * decision, and root may use everybody's, as in containers. Throws PoSyncError `folder-not-private`; system errors
 * unchanged.
 */
export async function closeFolder(folder: string, closed = OTHERS_WRITE): Promise<void> {
  const user = await currentUser();
  if (user === undefined) return;
  const { uid, mode } = await stat(folder);
  const isOurs = user === 0 || uid === user;
  const isOpen = (mode & closed) !== 0;
  if (isOurs && isOpen && (mode & STICKY) === 0) return chmod(folder, mode & 0o7777 & ~closed);
  if ((isOurs || uid === 0) && (mode & OTHERS_WRITE) === 0) return;
  throw new PoSyncError(
    'folder-not-private',
    `${folder} can be changed by other users of this machine.`,
    {
      remedy:
        'Make the user that runs po-sync its owner (chown), with mode 0700, or set `data` to another folder. ' +
        `A tmpfs needs the mount options uid=${user},mode=0700.`,
      facts: { folder, owner: uid, mode: (mode & 0o7777).toString(8) },
    },
  );
}

/**
 * The user that root would lock out of a folder by creating files in it: its owner, if that is another user. Undefined
 * for everybody but root, and for a folder that does not exist.
 */
export async function ownerBesideRoot(folder: string): Promise<number | undefined> {
  if ((await currentUser()) !== 0) return undefined;
  const owner = (await stat(folder).catch(() => undefined))?.uid;
  return owner === 0 ? undefined : owner;
}

/** The user of this process; undefined on a system without users. */
async function currentUser(): Promise<number | undefined> {
  try {
    const { uid } = userInfo();
    return uid < 0 ? undefined : uid;
  } catch {
    // A container may run as a user who has no name.
    return (await stat('/proc/self').catch(() => undefined))?.uid;
  }
}
