import { PoSyncError } from './errors.ts';

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
