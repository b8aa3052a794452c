import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoSyncError, toError } from '../core/errors.ts';
import { makePathSync, PRIVATE_FOLDER } from '../core/folder.ts';

const TABLES = {
  orders: `(
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    items TEXT NOT NULL,
    stored_at INTEGER NOT NULL
  )`,
  tokens: `(
    hash BLOB PRIMARY KEY,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID`,
  answers: `(
    key TEXT PRIMARY KEY,
    body_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    answer TEXT NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID`,
};

/**
 * Opens or creates the data file of an environment (in memory without a folder) and locks it until it is closed or the
 * process ends; `reset` empties it. What is committed survives a kill of the process.
 * Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`.
 */
export function openDatabase(
  folder: string | undefined,
  environment: string,
  reset = false,
): DatabaseSync {
  if (folder === undefined) return withTables(new DatabaseSync(':memory:'), false);
  const path = join(folder, `${environment}.sqlite`);
  try {
    makePathSync(folder, PRIVATE_FOLDER);
    const database = new DatabaseSync(path, { timeout: 1000 });
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;',
    );
    withTables(database, reset);
    flushFolder(folder);
    return database;
  } catch (error) {
    throw unusable(path, toError(error));
  }
}

function withTables(database: DatabaseSync, reset: boolean): DatabaseSync {
  const statements = Object.entries(TABLES).map(
    ([name, columns]) =>
      `${reset ? `DROP TABLE IF EXISTS ${name};` : ''} CREATE TABLE IF NOT EXISTS ${name} ${columns};`,
  );
  const index = 'CREATE INDEX IF NOT EXISTS orders_by_number ON orders (number);';
  database.exec(`BEGIN IMMEDIATE; ${statements.join('')} ${index} COMMIT;`);
  return database;
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
  return new PoSyncError(
    'sandbox-data-unusable',
    `The sandbox cannot keep its data in ${path}: ${cause.message}.`,
    {
      remedy: 'Choose a writable folder with --data.',
      facts: { file: path },
      cause,
    },
  );
}

/** An order to store; `items` is JSON text, exactly as the list will show it. */
export type NewOrder = { number: string; items: string };

/** When an order was stored, in milliseconds since 1970; ids grow in storage order. */
export type StoredAt = { id: number; storedAt: number };

/** The orders of one environment. */
export type OrderTable = {
  insert(order: NewOrder): void;
  /** When each order was stored, in storage order. */
  times(): StoredAt[];
  /** Orders by their ids, in pages of about 256 KiB, from 1 to 500 orders. */
  pages(ids: readonly number[]): Iterable<readonly NewOrder[]>;
  /** Whether an order has this number. */
  has(number: string): boolean;
};

const PAGE = 500;
/** Characters of items after which a page ends. */
const PAGE_TEXT = 256 * 1024;

/** The orders in an open data file. */
export function createOrderTable(database: DatabaseSync): OrderTable {
  const insert = database.prepare('INSERT INTO orders (number, items, stored_at) VALUES (?, ?, ?)');
  const times = database.prepare('SELECT id, stored_at FROM orders ORDER BY id');
  const byId = database.prepare('SELECT * FROM orders WHERE id = ?');
  const named = database.prepare('SELECT 1 FROM orders WHERE number = ? LIMIT 1');
  return {
    insert: ({ number, items }) => void insert.run(number, items, Date.now()),
    times: () =>
      Array.from(times.iterate(), ({ id, stored_at: at }) => ({
        id: Number(id),
        storedAt: Number(at),
      })),
    *pages(ids) {
      let rows: NewOrder[] = [];
      let text = 0;
      for (const id of ids) {
        const columns = byId.get(id);
        if (columns === undefined) continue;
        const row = { number: String(columns.number), items: String(columns.items) };
        rows.push(row);
        text += row.items.length;
        if (rows.length < PAGE && text < PAGE_TEXT) continue;
        yield rows;
        [rows, text] = [[], 0];
      }
      if (rows.length > 0) yield rows;
    },
    has: (number) => named.get(number) !== undefined,
  };
}
