import { DatabaseSync } from 'node:sqlite';

/** Records that wait for the others of their order number until the end of the file; on disk when they are many. */
export type LateRecords = Disposable & {
  add(record: LateRecord): void;
  /** All records, grouped by number; the numbers by first appearance. Call once. */
  ordered(): Generator<OrderedRecord>;
};

/** `content` compares the records of one number; `place` is shown if it differs. */
export type LateRecord = { number: string; content: string; place: string; text: string };

/** `group` is equal for records of one number. */
export type OrderedRecord = { group: number; text: string; others?: OtherRecords };

/** The first and the last place of records that have one number and different content. */
export type OtherRecords = { first: string; last: string };

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

const ORDERED = `
  SELECT text, min(position) OVER same grp, max(position) OVER same last,
    min(content) OVER same = max(content) OVER same uniform
  FROM record WINDOW same AS (PARTITION BY number) ORDER BY grp, position`;

/** Opens the store; creates nothing before the first record. */
export function openLateRecords(): LateRecords {
  let table: ReturnType<typeof openTable> | undefined;
  return {
    add({ number, content, place, text }) {
      table ??= openTable();
      table.insert.run(number, content, place, text);
    },
    *ordered() {
      if (table === undefined) return;
      const find = table.database.prepare('SELECT place FROM record WHERE position = ?');
      const placeAt = (position: unknown) => String(find.get(Number(position))?.['place']);
      for (const { text, grp, last, uniform } of table.database.prepare(ORDERED).iterate()) {
        const others =
          uniform === 1 ? {} : { others: { first: placeAt(grp), last: placeAt(last) } };
        yield { group: Number(grp), text: String(text), ...others };
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
    'CREATE TABLE record(position INTEGER PRIMARY KEY, number TEXT, content TEXT, place TEXT, text TEXT)',
  );
  database.exec('BEGIN');
  const insert = database.prepare(
    'INSERT INTO record(number, content, place, text) VALUES (?, ?, ?, ?)',
  );
  return { database, insert };
}
