import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { PoSyncError, toError } from '../core/errors.ts';
import { makePathSync, PRIVATE_FOLDER } from '../core/folder.ts';

/**
 * Opens or creates a database file with one table (in memory without a folder) and locks it until it is closed or the
 * process ends; `reset` empties it. A commit returns when it is on disk.
 * Throws PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`.
 */
function openDatabase(
  folder: string | undefined,
  name: string,
  { table, columns, reset }: { table: string; columns: string; reset: boolean },
): DatabaseSync {
  const create = `CREATE TABLE IF NOT EXISTS ${table} ${columns};`;
  if (folder === undefined) {
    const memory = new DatabaseSync(':memory:');
    memory.exec(create);
    return memory;
  }
  const path = join(folder, name);
  try {
    makePathSync(folder, PRIVATE_FOLDER);
    const database = new DatabaseSync(path, { timeout: 1000 });
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;',
    );
    database.exec(
      `BEGIN IMMEDIATE; ${reset ? `DROP TABLE IF EXISTS ${table};` : ''} ${create} COMMIT;`,
    );
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

/** Orders to store together, as two parallel arrays; items are JSON text. */
export type NewOrders = { numbers: string[]; items: string[] };

/** One stored order; ids grow in storage order, `items` is JSON text exactly as stored. */
export type Row = { id: number; number: string; state: string; items: string; storedAt: number };

/** The first and last id of a list, both inclusive. */
export type Range = { first: number; last: number };

/** The orders in the file of one environment. */
export type OrderTable = {
  /** Stores all orders in one commit that is on disk on return; `false` marks an order whose number already existed. */
  insert(orders: NewOrders): boolean[];
  /** All orders stored up to `until` (milliseconds since 1970). */
  range(until: number): Range;
  /** Narrows a range to its oldest or newest orders. */
  capped(range: Range, most: number, keep: 'oldest' | 'newest'): Range;
  /** The first rows of a range in storage order: about 256 KiB, from 1 to 500 rows. */
  page(range: Range): Row[];
  /** The orders with a number, oldest first. */
  find(number: string): Row[];
};

const ORDER_COLUMNS = `(
  id INTEGER PRIMARY KEY,
  number TEXT NOT NULL,
  state TEXT NOT NULL,
  items TEXT NOT NULL,
  stored_at INTEGER NOT NULL
)`;
const PAGE = 500;
/** Characters of items after which a page ends. */
const PAGE_TEXT = 256 * 1024;

/** The name of the order file in the data folder. */
export function orderFileName(environment: string): string {
  return `${environment}.sqlite`;
}

/** Opens or creates the order file. Throws like `openDatabase`. */
export function openOrderFile(
  folder: string | undefined,
  environment: string,
  reset = false,
): DatabaseSync {
  return openDatabase(folder, orderFileName(environment), {
    table: 'orders',
    columns: ORDER_COLUMNS,
    reset,
  });
}

const TOKEN_COLUMNS = `(
  hash BLOB PRIMARY KEY,
  client BLOB NOT NULL,
  scopes TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID`;

/** Opens or creates the token file. Throws like `openDatabase`. */
export function openTokenFile(
  folder: string | undefined,
  environment: string,
  reset = false,
): DatabaseSync {
  return openDatabase(folder, `${environment}.tokens.sqlite`, {
    table: 'tokens',
    columns: TOKEN_COLUMNS,
    reset,
  });
}

/** The orders in an open file; with `unique` each number is stored only once. */
export function createOrderTable(file: DatabaseSync, unique: boolean): OrderTable {
  // An index slows every insert, and only uniqueness needs one.
  const index = 'orders_by_number';
  file.exec(
    unique
      ? `CREATE INDEX IF NOT EXISTS ${index} ON orders (number)`
      : `DROP INDEX IF EXISTS ${index}`,
  );
  const insert = file.prepare(
    "INSERT INTO orders (number, state, items, stored_at) VALUES (?, 'NEW', ?, ?)",
  );
  const find = file.prepare('SELECT 1 FROM orders WHERE number = ? LIMIT 1');

  function store(number: string, items: string, at: number): boolean {
    if (unique && find.get(number) !== undefined) return false;
    insert.run(number, items, at);
    return true;
  }

  return {
    insert({ numbers, items }) {
      const at = Date.now();
      return inTransaction(file, () =>
        numbers.map((number, nth) => store(number, items[nth] ?? '[]', at)),
      );
    },
    ...listing(file),
  };
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function listing(database: DatabaseSync): Omit<OrderTable, 'insert'> {
  const oldest = database.prepare('SELECT min(id) AS id FROM orders');
  // Search backwards from the end: only the newest orders can be too new.
  const newest = database.prepare(
    'SELECT id FROM orders WHERE stored_at <= ? ORDER BY id DESC LIMIT 1',
  );
  const nth = database.prepare(
    'SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1 OFFSET ?',
  );
  const nthLast = database.prepare(
    'SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1 OFFSET ?',
  );
  const named = database.prepare(`SELECT * FROM orders WHERE number = ? ORDER BY id LIMIT ${PAGE}`);
  const page = database.prepare(
    `SELECT * FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${PAGE}`,
  );
  return {
    find: (number) => named.all(number).map(rowOf),
    range(until) {
      return { first: Number(oldest.get()?.id ?? 1), last: Number(newest.get(until)?.id ?? 0) };
    },
    capped({ first, last }, most, keep) {
      if (most <= 0) return { first, last: first - 1 };
      const edge = (keep === 'oldest' ? nth : nthLast).get(first, last, most - 1)?.id;
      if (edge === undefined) return { first, last };
      return keep === 'oldest' ? { first, last: Number(edge) } : { first: Number(edge), last };
    },
    page({ first, last }) {
      const rows: Row[] = [];
      let text = 0;
      for (const columns of page.iterate(first, last)) {
        const row = rowOf(columns);
        rows.push(row);
        text += row.items.length;
        if (text >= PAGE_TEXT) break;
      }
      return rows;
    },
  };
}

function rowOf(columns: Record<string, SQLOutputValue>): Row {
  return {
    id: Number(columns.id),
    number: String(columns.number),
    state: String(columns.state),
    items: String(columns.items),
    storedAt: Number(columns.stored_at),
  };
}
