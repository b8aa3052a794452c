import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { openDatabase } from './database.ts';

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

const COLUMNS = `(
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
export function openOrderFile(folder: string | undefined, environment: string, reset = false): DatabaseSync {
  return openDatabase(folder, orderFileName(environment), { table: 'orders', columns: COLUMNS, reset });
}

/** The orders in an open file; with `unique` each number is stored only once. */
export function createOrderTable(file: DatabaseSync, unique: boolean): OrderTable {
  // An index slows every insert, and only uniqueness needs one.
  const index = 'orders_by_number';
  file.exec(unique ? `CREATE INDEX IF NOT EXISTS ${index} ON orders (number)` : `DROP INDEX IF EXISTS ${index}`);
  const insert = file.prepare("INSERT INTO orders (number, state, items, stored_at) VALUES (?, 'NEW', ?, ?)");
  const find = file.prepare('SELECT 1 FROM orders WHERE number = ? LIMIT 1');

  function store(number: string, items: string, at: number): boolean {
    if (unique && find.get(number) !== undefined) return false;
    insert.run(number, items, at);
    return true;
  }

  return {
    insert({ numbers, items }) {
      const at = Date.now();
      return inTransaction(file, () => numbers.map((number, nth) => store(number, items[nth] ?? '[]', at)));
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
  const newest = database.prepare('SELECT id FROM orders WHERE stored_at <= ? ORDER BY id DESC LIMIT 1');
  const nth = database.prepare('SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1 OFFSET ?');
  const nthLast = database.prepare('SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1 OFFSET ?');
  const named = database.prepare(`SELECT * FROM orders WHERE number = ? ORDER BY id LIMIT ${PAGE}`);
  const page = database.prepare(`SELECT * FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${PAGE}`);
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
