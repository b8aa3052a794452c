import { closeSync, fdatasync, fsyncSync, mkdirSync, openSync } from 'node:fs';
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
  CREATE TABLE IF NOT EXISTS tokens (
    hash BLOB PRIMARY KEY,
    client BLOB NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/** The one file of an environment, ours alone until it is closed or the process dies. */
export type Database = {
  sql: DatabaseSync;
  /** Resolves when everything committed so far is on the disk; a commit alone only outlives the process. */
  flush(): Promise<void>;
  [Symbol.dispose](): void;
};

/** Opens the file, or makes it. Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`. */
export function openDatabase(folder: string, environment: string): Database {
  const path = join(folder, `${environment}.sqlite`);
  try {
    mkdirSync(folder, { recursive: true });
    const sql = openSql(path);
    const log = openSync(`${path}-wal`, 'a');
    flushFolder(folder);
    return {
      sql,
      flush: () => new Promise((resolve, reject) => fdatasync(log, (error) => (error ? reject(error) : resolve()))),
      [Symbol.dispose]() {
        sql.close();
        closeSync(log);
      },
    };
  } catch (error) {
    throw unusable(path, toError(error));
  }
}

/**
 * With `synchronous = NORMAL` a commit writes the log without waiting for the disk. The wait is ours, in `flush`:
 * it promises what FULL promises, and other calls go on meanwhile.
 */
function openSql(path: string): DatabaseSync {
  const sql = new DatabaseSync(path, { timeout: 1000 });
  sql.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
  sql.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  return sql;
}

/** New files are only there after a power cut when their folder is on the disk too. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
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
