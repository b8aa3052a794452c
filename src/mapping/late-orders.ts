import { DatabaseSync } from 'node:sqlite';

/** What waits for the rest of its order until the end of the file; on disk when it is much. */
export type LateOrders = Disposable & {
  add(key: string, text: string): void;
  /** Everything, grouped by key; of few texts, the keys by first appearance. Call once. */
  ordered(): Generator<{ key: string; text: string }>;
};

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

/** More texts than these are sorted in parts, because nothing else runs meanwhile. */
const FEW = 50_000;
const PARTS = 64;

/** Opens the store; creates nothing before the first text. */
export function openLateOrders(): LateOrders {
  let tables: Tables | undefined;
  let texts = 0;
  return {
    add(key, text) {
      tables ??= openTables(1);
      if (texts === FEW) tables = spread(tables);
      texts += 1;
      tables.add(key, text);
    },
    *ordered() {
      if (tables !== undefined) yield* tables.ordered();
    },
    [Symbol.dispose]() {
      tables?.close();
      tables = undefined;
    },
  };
}

type Tables = ReturnType<typeof openTables>;

function spread(tables: Tables): Tables {
  const parts = openTables(PARTS);
  for (const { key, text } of tables.ordered()) parts.add(key, text);
  tables.close();
  return parts;
}

/** So many tables, each with all texts of its keys. */
function openTables(count: number) {
  const database = new DatabaseSync(PRIVATE_FILE);
  database.exec('PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-2000');
  database.exec('BEGIN');
  const inserts = Array.from({ length: count }, (_, part) => {
    database.exec(`CREATE TABLE late${part}(position INTEGER PRIMARY KEY, key TEXT, text TEXT)`);
    return database.prepare(`INSERT INTO late${part}(key, text) VALUES (?, ?)`);
  });
  return {
    add(key: string, text: string) {
      const insert = inserts[partOf(key, count)];
      if (insert === undefined) throw new RangeError('no such part');
      insert.run(key, text);
    },
    *ordered() {
      for (const part of inserts.keys()) {
        const sorted = `SELECT key, text FROM late${part} ORDER BY min(position) OVER (PARTITION BY key), position`;
        for (const { key, text } of database.prepare(sorted).iterate())
          yield { key: String(key), text: String(text) };
      }
    },
    close: () => database.close(),
  };
}

function partOf(key: string, count: number): number {
  let hash = 0;
  for (let at = 0; at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193) >>> 0;
  return (hash >>> 7) % count;
}
