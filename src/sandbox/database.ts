import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoSyncError, toError } from '../errors.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    state TEXT NOT NULL,
    items TEXT NOT NULL,
    stored_at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS orders_by_number ON orders (number);
  CREATE TABLE IF NOT EXISTS tokens (
    hash BLOB PRIMARY KEY,
    client BLOB NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/**
 * Opens the one file of an environment, which is then ours alone until it is closed or the process dies.
 * Every commit reaches the disk before it returns.
 * Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`.
 */
export function openDatabase(folder: string, environment: string): DatabaseSync {
  const path = join(folder, `${environment}.sqlite`);
  try {
    mkdirSync(folder, { recursive: true });
    const database = new DatabaseSync(path, { timeout: 1000 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
    return database;
  } catch (error) {
    throw unusable(path, toError(error));
  }
}

function unusable(path: string, cause: Error): PoSyncError {
  if (/database is locked/.test(cause.message)) {
    return new PoSyncError('sandbox-data-in-use', `Another sandbox is using ${path}.`, {
      mend: 'Stop it, or give this one its own --data folder.',
      facts: { file: path },
      cause,
    });
  }
  return new PoSyncError('sandbox-data-unusable', `The sandbox cannot keep its data in ${path}: ${cause.message}.`, {
    mend: 'Give a folder that can be written with --data.',
    facts: { file: path },
    cause,
  });
}
