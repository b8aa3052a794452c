import { codeOf, PoSyncError, toError } from '../core/errors.ts';

/**
 * Does `work` on the file system; what fails there surfaces as `report-not-written` with the path.
 * The order's own fate does not depend on it, so the caller keeps going and writes the report later.
 */
export async function written<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof PoSyncError) throw thrown;
    const code = codeOf(thrown) ?? 'unknown';
    throw new PoSyncError('report-not-written', `${path} could not be written: ${reasonOf(thrown)}.`, {
      remedy: mendFor(code),
      facts: { path, reason: code },
      cause: thrown,
    });
  }
}

function reasonOf(thrown: unknown): string {
  switch (codeOf(thrown) ?? '') {
    case 'ENOSPC':
      return 'the disk is full (ENOSPC)';
    case 'EDQUOT':
      return 'the disk quota is used up (EDQUOT)';
    case 'EROFS':
      return 'the file system is read-only (EROFS)';
    case 'EACCES':
    case 'EPERM':
      return `po-sync may not write there (${codeOf(thrown)})`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `a file stands where a folder is needed (${codeOf(thrown)})`;
    case 'EISDIR':
      return 'a folder stands where the file belongs (EISDIR)';
    default:
      return toError(thrown).message;
  }
}

function mendFor(code: string): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'Free some space there; the orders go on and the report follows by itself.';
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return 'Let the user of po-sync write there; the orders go on and the report follows by itself.';
    default:
      return 'Mend the place; the orders go on and the report follows by itself.';
  }
}
