import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoSyncError, toError } from '../core/errors.ts';

/**
 * Opens a file of an environment, or makes it; it is ours alone until it is closed or the process dies. A commit returns
 * when it is on the disk. Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`.
 */
export function openDatabase(folder: string, name: string, schema: string): DatabaseSync {
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true });
    const database = new DatabaseSync(path, { timeout: 1000 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
    flushFolder(folder);
    return database;
  } catch (error) {
    throw unusable(path, toError(error));
  }
}

/** New files are only there after a power cut when their folder is on the disk too. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Why the sandbox cannot work with a file of its data. */
export function unusable(path: string, cause: Error): PoSyncError {
  if (/database is locked/.test(cause.message)) {
    return new PoSyncError('sandbox-data-in-use', `Another sandbox is using ${path}.`, {
      remedy: 'Stop it, or give this one its own --data folder.',
      facts: { file: path },
      cause,
    });
  }
  return new PoSyncError('sandbox-data-unusable', `The sandbox cannot keep its data in ${path}: ${cause.message}.`, {
    remedy: 'Give a folder that can be written with --data.',
    facts: { file: path },
    cause,
  });
}
