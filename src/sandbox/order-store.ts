import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Database } from './database.ts';

/** Whether an order is durable now, or its number was taken already. */
export type Stored = 'stored' | 'taken';

/** An order as it is kept; `items` is JSON text, exactly as it will be listed. */
export type NewOrder = { number: string; state: 'NEW'; items: string };

/** Which orders a list shows, by id of storage; `items` stays JSON text. */
export type Row = { id: number; number: string; state: string; items: string; storedAt: number };

/** Where a list begins and ends; ids are inclusive. */
export type Range = { first: number; last: number };

export type OrderStore = {
  /** Resolves when the order is on disk; creates that arrive together are committed together. */
  create(order: NewOrder): Promise<Stored>;
  /** All orders stored up to `until` (milliseconds since 1970), fixed while they are read. */
  range(until: number): Range;
  /** Narrows a range to its oldest or newest orders. */
  capped(range: Range, most: number, keep: 'oldest' | 'newest'): Range;
  /** The rows of a range in the order of storage, read page by page. */
  pages(range: Range): Iterable<readonly Row[]>;
};

const PAGE = 500;
/** Flushes under way at the same time: one batch goes to disk while the next is written. */
const FLUSHES = 2;

type Waiting = { order: NewOrder; resolve: (stored: Stored) => void; reject: (error: unknown) => void };

/** The orders of one environment; `unique` says that a number may be stored only once. */
export function openOrderStore(database: Database, unique: boolean): OrderStore {
  const { sql } = database;
  // An index costs every insert; only uniqueness needs one.
  const index = 'orders_by_number';
  sql.exec(unique ? `CREATE INDEX IF NOT EXISTS ${index} ON orders (number)` : `DROP INDEX IF EXISTS ${index}`);
  const insert = sql.prepare('INSERT INTO orders (number, state, items, stored_at) VALUES (?, ?, ?, ?)');
  const find = sql.prepare('SELECT 1 FROM orders WHERE number = ? LIMIT 1');
  let waiting: Waiting[] = [];
  let isScheduled = false;
  let flushing = 0;

  function store({ number, state, items }: NewOrder, at: number): Stored {
    if (unique && find.get(number) !== undefined) return 'taken';
    insert.run(number, state, items, at);
    return 'stored';
  }

  function commit(batch: readonly Waiting[]): Stored[] {
    const at = Date.now();
    return inTransaction(sql, () => batch.map(({ order }) => store(order, at)));
  }

  /** Commits what waits and answers it once it is on disk. */
  async function commitWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    flushing += 1;
    try {
      const stored = commit(batch);
      await database.flush();
      for (const [nth, one] of batch.entries()) one.resolve(stored[nth] ?? 'taken');
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
    flushing -= 1;
    if (waiting.length > 0) schedule();
  }

  /** What comes while all flushes are under way is the next batch. */
  function schedule(): void {
    if (isScheduled || flushing >= FLUSHES) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void commitWaiting();
    });
  }

  return {
    create: (order) =>
      new Promise((resolve, reject) => {
        waiting.push({ order, resolve, reject });
        schedule();
      }),
    ...listing(sql),
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

function listing(database: DatabaseSync): Pick<OrderStore, 'range' | 'capped' | 'pages'> {
  const oldest = database.prepare('SELECT min(id) AS id FROM orders');
  // From the end backwards, because only the youngest are too young.
  const newest = database.prepare('SELECT id FROM orders WHERE stored_at <= ? ORDER BY id DESC LIMIT 1');
  const nth = database.prepare('SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1 OFFSET ?');
  const nthLast = database.prepare('SELECT id FROM orders WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1 OFFSET ?');
  const page = database.prepare(`SELECT * FROM orders WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${PAGE}`);
  return {
    range(until) {
      return { first: Number(oldest.get()?.id ?? 1), last: Number(newest.get(until)?.id ?? 0) };
    },
    capped({ first, last }, most, keep) {
      if (most <= 0) return { first, last: first - 1 };
      const edge = (keep === 'oldest' ? nth : nthLast).get(first, last, most - 1)?.id;
      if (edge === undefined) return { first, last };
      return keep === 'oldest' ? { first, last: Number(edge) } : { first: Number(edge), last };
    },
    *pages({ first, last }) {
      for (let next = first; next <= last; ) {
        const rows = page.all(next, last).map(rowOf);
        const end = rows.at(-1);
        if (end === undefined) return;
        yield rows;
        next = end.id + 1;
      }
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
