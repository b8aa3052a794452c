import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type DeadLetter, errorLine } from '../../order/dead-letter.ts';
import { splitId } from '../../order/letter-id.ts';
import { itemsIn } from '../../order/order.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { shorten } from '../../order/text.ts';
import { isNameless } from '../../report/story.ts';
import { itemsShown, reasonOf } from '../../views/letter.ts';
import { faultText } from '../../wording/problem.ts';

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

/** Selects rows; a row must match everything that is given. `q`: part of the number, an article, the file or the message. */
export type RowFilter = {
  kind?: DeadLetterKind;
  signature?: string;
  batch?: string;
  source?: string;
  q?: string;
};

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

export type RowPage = { items: DeadLetterRow[]; next: string | undefined };

type From = Pick<DeadLetterRow, 'batch' | 'source' | 'file'>;

/** SQLite's own: a private temporary file that is gone with the process. */
const PRIVATE_FILE = '';

// One transaction that never ends: nobody else reads it. `shown` is apart: a search reads only what it compares.
const SCHEMA = `
  PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-64000; BEGIN;
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

/** The open dead letters of an environment: the newest batch first, in the order of its file. On disk, not in memory. */
export function createLetterTable() {
  const database = new DatabaseSync(PRIVATE_FILE);
  database.exec(SCHEMA);
  const insert = database.prepare(
    `INSERT INTO letters VALUES (${Array.from({ length: 12 }, () => '?').join(', ')})`,
  );
  const show = database.prepare('INSERT INTO shown(rowid, row) VALUES (?, ?)');
  const forgetOne = database.prepare('DELETE FROM letters WHERE id = ?');
  const forget = database.prepare('DELETE FROM letters WHERE batch = ?');

  /** Replaces the rows of a batch. */
  function put(from: From, letters: readonly DeadLetter[]): void {
    forget.run(from.batch);
    for (const letter of letters) {
      if (letter.closed !== undefined) continue;
      const row = rowOf(letter, from);
      const { id, batch, kind, signature, source, firstAt, lastAt, location } = row;
      const [, ordinal] = splitId(id);
      const error = [kind, signature, source, row.purchaseOrderNumber, firstAt, lastAt];
      const nameless = Number(isNameless(letter));
      const place = [id, batch, ordinal, location.line];
      const { lastInsertRowid } = insert.run(...place, ...error, nameless, textOf(letter, row));
      show.run(lastInsertRowid, JSON.stringify(row));
    }
  }

  /** Removes rows of a batch; without `closed` all. */
  function remove(batch: string, closed?: readonly string[]): void {
    if (closed === undefined) forget.run(batch);
    for (const id of closed ?? []) forgetOne.run(id);
  }

  /** At most `limit` rows after the row with the id `after`, which may be closed meanwhile. */
  function page(filter: RowFilter, limit: number, after?: string): RowPage {
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
    return items.length > limit
      ? { items: items.slice(0, limit), next: items[limit - 1]?.id }
      : { items, next: undefined };
  }

  function summary(filter: RowFilter): RowSummary {
    const { where, given } = conditionOf(filter);
    // What the index of errors does not have is looked at row by row, as they are on the disk.
    const isEach = Object.keys(filter).some((name) => 'source q'.includes(name));
    const from = `letters ${isEach && filter.batch === undefined ? 'NOT INDEXED' : ''}`;
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

  return { put, remove, numberOf, page, summary };
}

function conditionOf({ q = '', ...equal }: RowFilter) {
  const words = searchText(q).replace(/[[*?]/g, '[$&]');
  const given: Record<string, SQLInputValue> = {
    ...equal,
    ...(words !== '' && { words: `*${words}*` }),
  };
  const where = [
    ...Object.keys(equal).map((name) => `${name} = :${name}`),
    ...(words === '' ? [] : ['text GLOB :words']),
  ];
  return { where: where.join(' AND ') || 'TRUE', given };
}

/** Text as a search compares it: lower case, on one line. */
function searchText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

function rowOf(letter: DeadLetter, from: From): DeadLetterRow {
  const { id, purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt, location } =
    letter;
  const row = { id, purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt };
  const message = shorten(reasonOf(letter).toWellFormed(), LONGEST);
  return { ...row, location, message, line: errorLine(letter), items: itemsShown(letter), ...from };
}

/** What a search finds of a row. */
function textOf(letter: DeadLetter, { purchaseOrderNumber, file, code, message }: DeadLetterRow) {
  const { problems = [] } = letter;
  const values = problems.slice(0, 5).map((one) => `${one.field} ${one.value} ${faultText(one)}`);
  const codes = letter.articles ?? itemsIn(letter.payload).map(({ articleCode }) => articleCode);
  const articles = codes.slice(0, 20).join(' ');
  const all = [purchaseOrderNumber, articles, ...values, file, code, message];
  return all.map(searchText).join('\n');
}
