import { DatabaseSync } from 'node:sqlite';

/** What waits for the rest of its order until the end of the file; on disk when it is much. */
export type LateOrders = Disposable & {
  add(key: string, text: string): void;
  /** Everything, grouped by key; the keys by first appearance. Call once. */
  ordered(): Generator<{ key: string; text: string }>;
};

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

const ORDERED = `
  SELECT key, text FROM late ORDER BY min(position) OVER (PARTITION BY key), position`;

/** Opens the store; creates nothing before the first text. */
export function openLateOrders(): LateOrders {
  let table: ReturnType<typeof openTable> | undefined;
  return {
    add(key, text) {
      table ??= openTable();
      table.insert.run(key, text);
    },
    *ordered() {
      if (table === undefined) return;
      for (const { key, text } of table.database.prepare(ORDERED).iterate())
        yield { key: String(key), text: String(text) };
    },
    [Symbol.dispose]() {
      table?.database.close();
      table = undefined;
    },
  };
}

function openTable() {
  const database = new DatabaseSync(PRIVATE_FILE);
  database.exec('PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-2000');
  database.exec('CREATE TABLE late(position INTEGER PRIMARY KEY, key TEXT, text TEXT)');
  database.exec('BEGIN');
  return { database, insert: database.prepare('INSERT INTO late(key, text) VALUES (?, ?)') };
}
