import { constants } from 'node:fs';
import { access, lstat, open } from 'node:fs/promises';
import { codeOf, PoSyncError } from './errors.ts';

/** An open folder. On Linux `path` addresses exactly this folder, even if somebody replaces its name meanwhile. */
export type OpenFolder = AsyncDisposable & { readonly path: string };

/**
 * Opens a folder without following a link at its last step. `shown` is the path for messages.
 * PoSyncError `folder-is-link`; other errors (ENOENT, ENOTDIR, EACCES) unchanged.
 */
export async function openFolder(folder: string, shown = folder): Promise<OpenFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(async (error: unknown) => {
    throw (await isLink(folder)) ? folderIsLink(shown) : error;
  });
  const byHandle = `/proc/self/fd/${handle.fd}`;
  const hasHandles = await access(byHandle).then(
    () => true,
    () => false,
  );
  return { path: hasHandles ? byHandle : folder, [Symbol.asyncDispose]: () => handle.close() };
}

/** The error for a link where only a plain folder is safe. */
export function folderIsLink(folder: string): PoSyncError {
  return new PoSyncError('folder-is-link', `${folder} is a link, and po-sync does not follow links there.`, {
    remedy: 'Replace the link with a plain folder.',
    facts: { folder },
  });
}

async function isLink(folder: string): Promise<boolean> {
  try {
    return (await lstat(folder)).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The mode of folders that only the user of po-sync may enter: `data` and everything below it. */
export const PRIVATE_FOLDER = 0o700;

/** Removes all access for other users from whatever po-sync creates; owner and group keep what they inherit. */
const NO_OTHERS = 0o007;

/**
 * The file mode creation mask of the process: without access for others, or exactly as PO_SYNC_UMASK says, for folders
 * that are shared with other users. PoSyncError `umask-invalid`.
 */
export function umaskFor(setting: string | undefined, inherited: number): number {
  if (setting === undefined || setting === '') return inherited | NO_OTHERS;
  if (/^0?[0-7]{3}$/.test(setting)) return Number.parseInt(setting, 8);
  throw new PoSyncError('umask-invalid', `PO_SYNC_UMASK is "${setting}".`, {
    remedy: 'Use three octal digits, such as 027 (nothing for others) or 022 (others can read).',
    facts: { value: setting },
  });
}
