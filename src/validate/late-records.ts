import { DatabaseSync } from 'node:sqlite';

/** Records that wait for the others of their order number until the end of the file; on disk when they are many. */
export type LateRecords = Disposable & {
  add(record: LateRecord): void;
  /** All records, those of one number after each other; the numbers by first appearance. Call once. */
  ordered(): Generator<OrderedRecord>;
};

/** `content` compares the records of one number. */
export type LateRecord = { number: string; content: string; line: number; text: string };

/** `group` is equal for records of one number; `from` and `to` are the first and last of their lines. */
export type OrderedRecord = { group: number; isUniform: boolean; from: number; to: number; text: string };

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

const ORDERED = `
  SELECT text, min(position) OVER same grp, min(content) OVER same = max(content) OVER same uniform,
    min(line) OVER same low, max(line) OVER same high
  FROM record WINDOW same AS (PARTITION BY number) ORDER BY grp, position`;

/** Opens the store; creates nothing before the first record. */
export function openLateRecords(): LateRecords {
  let table: ReturnType<typeof openTable> | undefined;
  return {
    add({ number, content, line, text }) {
      table ??= openTable();
      table.insert.run(number, content, line, text);
    },
    *ordered() {
      if (table === undefined) return;
      for (const { text, grp, uniform, low, high } of table.database.prepare(ORDERED).iterate()) {
        const lines = { from: Number(low), to: Number(high) };
        yield { group: Number(grp), isUniform: uniform === 1, ...lines, text: String(text) };
      }
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
  database.exec(
    'CREATE TABLE record(position INTEGER PRIMARY KEY, number TEXT, content TEXT, line INTEGER, text TEXT)',
  );
  database.exec('BEGIN');
  const insert = database.prepare('INSERT INTO record(number, content, line, text) VALUES (?, ?, ?, ?)');
  return { database, insert };
}
