import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoSyncError, toError } from '../core/errors.ts';
import { PRIVATE_FOLDER } from '../core/folder.ts';

/** The one table of a database file; `reset` empties it at startup. */
export type TableDefinition = { table: string; columns: string; reset: boolean };

/**
 * Opens or creates a database file of an environment (in memory without a folder) and locks it until it is closed or
 * the process ends. A commit returns when it is on disk.
 * Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`.
 */
export function openDatabase(folder: string | undefined, name: string, definition: TableDefinition): DatabaseSync {
  const { table, columns, reset } = definition;
  const create = `CREATE TABLE IF NOT EXISTS ${table} ${columns};`;
  if (folder === undefined) {
    const memory = new DatabaseSync(':memory:');
    memory.exec(create);
    return memory;
  }
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
    const database = new DatabaseSync(path, { timeout: 1000 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(`BEGIN IMMEDIATE; ${reset ? `DROP TABLE IF EXISTS ${table};` : ''} ${create} COMMIT;`);
    flushFolder(folder);
    return database;
  } catch (error) {
    throw unusable(path, toError(error));
  }
}

/** A new file survives a power failure only if its folder entry is on disk too. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** The error for a data file that the sandbox cannot use. */
export function unusable(path: string, cause: Error): PoSyncError {
  if (/database is locked/.test(cause.message)) {
    return new PoSyncError('sandbox-data-in-use', `Another sandbox is using ${path}.`, {
      remedy: 'Stop the other sandbox, or choose another folder with --data.',
      facts: { file: path },
      cause,
    });
  }
  return new PoSyncError('sandbox-data-unusable', `The sandbox cannot keep its data in ${path}: ${cause.message}.`, {
    remedy: 'Choose a writable folder with --data.',
    facts: { file: path },
    cause,
  });
}
