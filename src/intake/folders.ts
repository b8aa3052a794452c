import { codeOf, PoSyncError, toError } from '../core/errors.ts';

/** What the system said of a folder, as the error that an operator can act on. */
export function folderError(error: unknown, folder: string): PoSyncError {
  const code = codeOf(error) ?? 'unknown';
  const more = { cause: error, facts: { folder, code } };
  switch (code) {
    case 'ENOENT':
      return new PoSyncError('folder-missing', `There is no folder ${folder}.`, {
        ...more,
        remedy: `Create it (mkdir -p '${folder}'), mount what belongs there, or correct the path of the source.`,
      });
    case 'ENOTDIR':
      return new PoSyncError('folder-missing', `${folder} is not a folder.`, {
        ...more,
        remedy: 'Correct the path of the source.',
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new PoSyncError('folder-not-writable', `po-sync may not write into ${folder}.`, {
        ...more,
        remedy: 'Give the user of po-sync the right to read, write and enter it.',
      });
    default:
      return new PoSyncError('folder-trouble', `${folder}: ${toError(error).message}`, more);
  }
}
