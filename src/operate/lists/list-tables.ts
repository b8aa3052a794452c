import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type DeadLetter, errorLine } from '../../order/dead-letter.ts';
import { splitId } from '../../order/letter-id.ts';
import { itemsIn } from '../../order/order.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { asText, sentence } from '../../order/sentence.ts';
import { shorten } from '../../order/text.ts';
import { isNameless, seenFrom } from '../../report/story.ts';
import { faultText } from '../../wording/problem.ts';
import type { BatchStanding } from '../batches/list-batches.ts';
import { itemsShown, reasonOf } from './letter-row.ts';

/** One line of a list of open dead letters. `items`: its first items, or what differs in a conflict, as text. */
export type DeadLetterRow = Pick<
  DeadLetter,
  | 'id'
  | 'purchaseOrderNumber'
  | 'kind'
  | 'code'
  | 'message'
  | 'signature'
  | 'attempts'
  | 'firstAt'
  | 'lastAt'
  | 'location'
> & { batch: string; source: string; file: string; line: number; items: string };

/** What a list of batches filters by. `open`: it needs a person. `letters`: open dead letters. */
export type BatchRow = {
  batch: string;
  source: string;
  file: string;
  state: BatchStanding;
  open: boolean;
  letters: number;
};

/** Selects rows by their columns. `q`: part of the text of a row, such as a number, an article, a file or a message. */
export type RowFilter = Readonly<Record<string, string | undefined>>;

/** Rows of one kind and signature, with the message of one. `nameless`: how many are rows without an order number. */
export type RowGroup = Pick<
  DeadLetterRow,
  'kind' | 'signature' | 'code' | 'message' | 'firstAt' | 'lastAt'
> & { count: number; nameless: number };

/** Everything that matches, by kind, and by error: the largest group first. */
export type RowSummary = {
  total: number;
  kinds: Partial<Record<DeadLetterKind, number>>;
  groups: RowGroup[];
};

type From = Pick<DeadLetterRow, 'batch' | 'source' | 'file'>;

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

// One transaction that never ends: nobody else reads it. `shown` is apart: a search reads only what it compares.
const SCHEMA = `
  PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-64000; BEGIN;
  CREATE TABLE batches(
    batch TEXT PRIMARY KEY, source TEXT, state TEXT, open TEXT, letters INT, text TEXT
  ) WITHOUT ROWID;
  CREATE TABLE letters(
    id TEXT, batch TEXT, ordinal INT, line INT, kind TEXT, signature TEXT, source TEXT,
    number TEXT, firstAt TEXT, lastAt TEXT, nameless INT, text TEXT
  );
  CREATE TABLE shown(row TEXT);
  CREATE TRIGGER gone AFTER DELETE ON letters
    BEGIN DELETE FROM shown WHERE rowid = old.rowid; END;
  CREATE UNIQUE INDEX byId ON letters(id);
  CREATE INDEX inOrder ON letters(batch DESC, line, ordinal);
  CREATE INDEX byError ON letters(kind, signature, firstAt, lastAt, nameless)`;

const GROUPS = `kind, signature, min(firstAt) AS firstAt, max(lastAt) AS lastAt, count(*) AS count,
  sum(nameless) AS nameless, max(rowid) AS example`;

/** Where a page continues, also if its last row was closed meanwhile. */
const PLACE = `coalesce((SELECT line FROM letters WHERE id = :after),
  (SELECT max(line) FROM letters WHERE batch = :last AND ordinal < :ordinal), 0)`;

/** Characters of a message that a list shows and a search finds. */
const LONGEST = 500;

export type ListTables = ReturnType<typeof createListTables>;

/** The batches of an environment and their open dead letters: the newest batch first. On disk, not in memory. */
export function createListTables() {
  const database = new DatabaseSync(PRIVATE_FILE);
  database.exec(SCHEMA);
  return {
    ...createBatchTable(database),
    ...createLetterTable(database),
    clear: () => database.exec('DELETE FROM batches; DELETE FROM letters'),
    [Symbol.dispose]: () => database.close(),
  };
}

function createBatchTable(database: DatabaseSync) {
  const insert = database.prepare('INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?)');
  const forget = database.prepare('DELETE FROM batches WHERE batch = ?');

  function putBatch({ batch, source, file, state, open, letters }: BatchRow): void {
    const text = [file, batch].map(searchText).join('\n');
    insert.run(batch, source, state, String(open), letters, text);
  }

  /** The names of at most `limit` batches that are older than `after`. */
  function batchPage(filter: RowFilter, limit: number, after?: string) {
    const { where, given } = conditionOf(filter);
    const older = after === undefined ? '' : 'AND batch < :after';
    const names = database
      .prepare(`SELECT batch FROM batches WHERE ${where} ${older} ORDER BY batch DESC LIMIT :limit`)
      .all({ ...given, limit: limit + 1, ...(after !== undefined && { after }) })
      .map(({ batch }) => String(batch));
    return pageOf(names, limit, (name) => name);
  }

  /** The batches with open dead letters, and how many. */
  function withLetters(which: 'done' | 'in progress'): Map<string, number> {
    const isDone = "state IN ('finished', 'unreadable')";
    const where = `letters > 0 AND ${which === 'done' ? '' : 'NOT '}${isDone}`;
    const found = database.prepare(`SELECT batch, letters FROM batches WHERE ${where}`).all();
    return new Map(found.map(({ batch, letters }) => [String(batch), Number(letters)]));
  }

  /** How many dead letters are open, and the oldest batch with one. */
  function openLetters(): { orders: number; oldest: string | undefined } {
    const sums =
      'SELECT sum(letters) AS orders, min(batch) AS oldest FROM batches WHERE letters > 0';
    const { orders, oldest } = database.prepare(sums).get() ?? {};
    return { orders: Number(orders ?? 0), oldest: oldest ? String(oldest) : undefined };
  }

  return {
    putBatch,
    openLetters,
    batchPage,
    withLetters,
    removeBatch: (batch: string): void => void forget.run(batch),
  };
}

/** A page of items, of which one more than `limit` was read. */
function pageOf<Item>(items: Item[], limit: number, idOf: (item: Item) => string) {
  const last = items[limit - 1];
  return {
    items: items.slice(0, limit),
    next: items.length > limit && last !== undefined ? idOf(last) : undefined,
  };
}

function createLetterTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO letters VALUES (${Array.from({ length: 12 }, () => '?').join(', ')})`,
  );
  const show = database.prepare('INSERT INTO shown(rowid, row) VALUES (?, ?)');
  const forgetOne = database.prepare('DELETE FROM letters WHERE id = ?');
  const forget = database.prepare('DELETE FROM letters WHERE batch = ?');

  /** Adds the row of an open dead letter. */
  function add(from: From, letter: DeadLetter): void {
    const row = rowOf(letter, from);
    const { id, batch, kind, signature, source, lastAt, location } = row;
    const [, ordinal] = splitId(id);
    const error = [kind, signature, source, row.purchaseOrderNumber, seenFrom(letter), lastAt];
    const nameless = Number(isNameless(letter));
    const place = [id, batch, ordinal, location.line];
    forgetOne.run(id);
    const { lastInsertRowid } = insert.run(...place, ...error, nameless, textOf(letter, row));
    show.run(lastInsertRowid, JSON.stringify(row));
  }

  /** Removes rows of a batch; without `closed` all. */
  function remove(batch: string, closed?: readonly string[]): void {
    if (closed === undefined) forget.run(batch);
    for (const id of closed ?? []) forgetOne.run(id);
  }

  /** At most `limit` rows after the row with the id `after`, which may be closed meanwhile. */
  function page(filter: RowFilter, limit: number, after?: string) {
    const { where, given } = conditionOf(filter);
    const [last = '', ordinal = 0] = after === undefined ? [] : splitId(after);
    const isLater = `(batch < :last OR (batch = :last AND (line, ordinal) > (${PLACE}, :ordinal)))`;
    const items = database
      .prepare(
        `SELECT row FROM letters JOIN shown ON shown.rowid = letters.rowid WHERE ${where}
          ${after === undefined ? '' : `AND ${isLater}`}
          ORDER BY batch DESC, line, ordinal LIMIT :limit`,
      )
      .all({ ...given, limit: limit + 1, ...(after !== undefined && { after, last, ordinal }) })
      .map(({ row }) => JSON.parse(String(row)) as DeadLetterRow);
    return pageOf(items, limit, ({ id }) => id);
  }

  function summary(filter: RowFilter): RowSummary {
    const { where, given } = conditionOf(filter);
    // What the index of errors does not have is looked at row by row, as they are on the disk.
    const isEach = (filter['source'] ?? filter['q']) && filter['batch'] === undefined;
    const from = `letters ${isEach ? 'NOT INDEXED' : ''}`;
    const groups = database
      .prepare(
        `WITH found AS (SELECT ${GROUPS} FROM ${from} WHERE ${where} GROUP BY kind, signature)
          SELECT kind, signature, firstAt, lastAt, count, nameless, row
          FROM found JOIN shown ON shown.rowid = example
          ORDER BY count DESC`,
      )
      .all(given)
      .map(({ row, ...group }) => {
        const { code, message } = JSON.parse(String(row)) as DeadLetterRow;
        return { ...group, code, message } as RowGroup;
      });
    const kinds: RowSummary['kinds'] = {};
    for (const { kind, count } of groups) kinds[kind] = (kinds[kind] ?? 0) + count;
    return { total: groups.reduce((sum, { count }) => sum + count, 0), kinds, groups };
  }

  /** The order number of an open dead letter; undefined when it is not there. */
  function numberOf(id: string): string | undefined {
    const found = database.prepare('SELECT number FROM letters WHERE id = ?').get(id);
    return found && String(found['number']);
  }

  return { add, remove, numberOf, page, summary };
}

function conditionOf({ q = '', ...columns }: RowFilter) {
  const words = searchText(q).replace(/[[*?]/g, '[$&]');
  const given: Record<string, SQLInputValue> = words === '' ? {} : { words: `*${words}*` };
  for (const [name, value] of Object.entries(columns)) if (value !== undefined) given[name] = value;
  const where = Object.keys(given).map((name) =>
    name === 'words' ? 'text GLOB :words' : `${name} = :${name}`,
  );
  return { where: where.join(' AND ') || 'TRUE', given };
}

/** Text as a search compares it: lower case, on one line. */
function searchText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

function rowOf(letter: DeadLetter, { batch, source, file }: From): DeadLetterRow {
  const { id, purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt, location } =
    letter;
  const row = { id, purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt };
  const message = sentence(shorten(asText(reasonOf(letter)).toWellFormed(), LONGEST));
  const more = { message, line: errorLine(letter), items: itemsShown(letter) };
  return { ...row, location, ...more, batch, source, file };
}

/** What a search finds of a row. */
function textOf(letter: DeadLetter, { purchaseOrderNumber, file, code, message }: DeadLetterRow) {
  const { problems = [] } = letter;
  const values = problems
    .slice(0, 5)
    .map((one) => `${one.field} ${one.value} ${asText(faultText(one))}`);
  const codes = itemsIn(letter.payload).map(({ articleCode }) => articleCode);
  const articles = codes.slice(0, 20).join(' ');
  const all = [purchaseOrderNumber, articles, ...values, file, code, asText(message)];
  return all.map(searchText).join('\n');
}
