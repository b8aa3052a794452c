import { type Closing, closingFor, closingsOf, type DeadLetter } from '../../order/dead-letter.ts';
import { placeText } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';

/** One line of a list of open dead letters. `id`: batch and place, which together are unique. */
export type DeadLetterRow = Pick<
  DeadLetter,
  'purchaseOrderNumber' | 'kind' | 'code' | 'message' | 'signature' | 'attempts' | 'firstAt' | 'lastAt' | 'location'
> & { id: string; batch: string; source: string; file: string };

/** A row as it is kept. `text`: what a search looks at, in lower case. */
type Kept = DeadLetterRow & { text: string };

/** Selects rows; a row must match everything that is given. `q`: part of the number, an article, or the message. */
export type RowFilter = {
  kind?: DeadLetterKind;
  signature?: string;
  batch?: string;
  source?: string;
  /** ISO 8601. */
  since?: string;
  q?: string;
};

/** Rows of one kind and signature. */
export type RowGroup = Pick<DeadLetterRow, 'kind' | 'signature' | 'code' | 'message' | 'firstAt' | 'lastAt'> & {
  count: number;
  /** How many batches have such rows. */
  batches: number;
};

/** Everything that matches. */
export type RowSummary = { total: number; kinds: Partial<Record<DeadLetterKind, number>>; groups: RowGroup[] };

/** `rows`: everything that matches, where that is little, so that its pages need no second search. */
type KeptSummary = RowSummary & { rows: readonly Kept[] | undefined };

/** Filters whose summaries are kept until something changes, and the most rows that each keeps. */
const SUMMARIES = 50;
const LITTLE = 1_000;

export type RowPage = { items: DeadLetterRow[]; next: string | undefined };

/** Characters of a message that a list shows and a search finds. */
const LONGEST = 500;

/** The open dead letters of an environment in memory, about 1 kB each: the newest batch first, in the order of its file. */
export function createDeadLetterTable() {
  const batches = new Map<string, Kept[]>();
  const summaries = new Map<string, KeptSummary>();
  /** Names sort by time. */
  let names: string[] | undefined = [];

  /** Replaces the rows of a batch. */
  function put(from: { batch: string; source: string; file: string }, letters: readonly DeadLetter[]): void {
    const rows = letters.filter(({ closed }) => closed === undefined).map((one) => keptOf(one, from));
    if (rows.length === 0) {
      remove(from.batch);
      return;
    }
    if (!batches.has(from.batch)) names = undefined;
    batches.set(from.batch, rows);
    summaries.clear();
  }

  function remove(batch: string): void {
    if (batches.delete(batch)) names = undefined;
    summaries.clear();
  }

  /** Removes the rows of a batch that these closings close. */
  function close(batch: string, closings: readonly Closing[]): void {
    const rows = batches.get(batch);
    if (rows === undefined) return;
    const closed = closingsOf(closings);
    const left = rows.filter((row) => closingFor(row, closed) === undefined);
    if (left.length === 0) remove(batch);
    else batches.set(batch, left);
    summaries.clear();
  }

  function* matching(filter: RowFilter, after?: string): Generator<Kept> {
    const matches = matcher(filter);
    const [last = '', place = ''] = after === undefined ? [] : splitId(after);
    names ??= [...batches.keys()].sort().reverse();
    for (const name of names) {
      if (after !== undefined && name > last) continue;
      const rows = batches.get(name) ?? [];
      const from = after !== undefined && name === last ? indexAfter(rows, place) : 0;
      for (let i = from; i < rows.length; i += 1) {
        const row = rows[i];
        if (row !== undefined && matches(row)) yield row;
      }
    }
  }

  return { put, remove, close, ...createQueries(matching, summaries) };
}

/** Kind → signature → group: a joined key for each row would double the time. */
type Groups = Map<DeadLetterKind, Map<string, RowGroup & { last: string }>>;

function addToGroup(all: Groups, row: Kept): void {
  const { kind, signature, code, message, firstAt, lastAt, batch } = row;
  const groups = all.get(kind) ?? new Map<string, RowGroup & { last: string }>();
  const group = groups.get(signature);
  if (group === undefined) {
    all.set(kind, groups);
    groups.set(signature, { kind, signature, code, message, firstAt, lastAt, count: 1, batches: 1, last: batch });
    return;
  }
  group.count += 1;
  if (group.last !== batch) group.batches += 1;
  group.last = batch;
  if (firstAt < group.firstAt) group.firstAt = firstAt;
  if (lastAt > group.lastAt) group.lastAt = lastAt;
}

type Matching = (filter: RowFilter, after?: string) => Iterable<Kept>;

/** `summaries`: what was counted since the last change, by filter. */
function createQueries(matching: Matching, summaries: Map<string, KeptSummary>) {
  /** At most `limit` rows after the row with the id `after`, which may be closed meanwhile. */
  function page(filter: RowFilter, limit: number, after?: string): RowPage {
    const items: DeadLetterRow[] = [];
    for (const { text: _text, ...row } of rowsOf(filter, after)) {
      if (items.length === limit) return { items, next: items.at(-1)?.id };
      items.push(row);
    }
    return { items, next: undefined };
  }

  function rowsOf(filter: RowFilter, after: string | undefined): Iterable<Kept> {
    const rows = summaries.get(JSON.stringify(filter))?.rows;
    const at = after === undefined ? -1 : (rows?.findIndex(({ id }) => id === after) ?? -1);
    const isKnown = rows !== undefined && (after === undefined || at >= 0);
    return isKnown ? rows.slice(at + 1) : matching(filter, after);
  }

  /** How many rows match, by kind, and by error: the largest group first. */
  function summary(filter: RowFilter): RowSummary {
    const { rows: _, ...found } = kept(filter);
    return found;
  }

  function kept(filter: RowFilter): KeptSummary {
    const key = JSON.stringify(filter);
    const known = summaries.get(key);
    if (known !== undefined) return known;
    const rows: Kept[] = [];
    const kinds: RowSummary['kinds'] = {};
    const groups: Groups = new Map();
    let total = 0;
    for (const row of matching(filter)) {
      total += 1;
      if (rows.length < LITTLE) rows.push(row);
      kinds[row.kind] = (kinds[row.kind] ?? 0) + 1;
      addToGroup(groups, row);
    }
    const each = [...groups.values()].flatMap((ofKind) => [...ofKind.values()]);
    const largest = each.map(({ last: _last, ...group }) => group).sort((a, b) => b.count - a.count);
    const found = { total, kinds, groups: largest, rows: total < LITTLE ? rows : undefined };
    summaries.set(key, found);
    const [oldest] = summaries.keys();
    if (summaries.size > SUMMARIES && oldest !== undefined) summaries.delete(oldest);
    return found;
  }

  return { page, summary };
}

function keptOf(letter: DeadLetter, from: { batch: string; source: string; file: string }): Kept {
  const { purchaseOrderNumber, kind, code, signature, attempts, firstAt, lastAt, location, problems } = letter;
  const message = letter.message.slice(0, LONGEST).toWellFormed();
  const articles = (letter.articles ?? articlesIn(letter.payload)).slice(0, 20).join(' ');
  const values = (problems ?? []).slice(0, 5).map(({ field, value, message: words }) => `${field} ${value} ${words}`);
  const text = [purchaseOrderNumber, code, message, articles, ...values, from.file].join('\n').toLowerCase();
  const id = idOf(from.batch, letter);
  const row = { purchaseOrderNumber, kind, code, message, signature, attempts, firstAt, lastAt, location };
  return { id, ...row, batch: from.batch, source: from.source, file: from.file, text };
}

/** `BATCH~line 7`, `BATCH~/orders/3`, or with the number while the place is not known: `BATCH~#PO-1`. */
export function idOf(
  batch: string,
  { location, purchaseOrderNumber }: Pick<DeadLetter, 'location' | 'purchaseOrderNumber'>,
) {
  return `${batch}~${location.line === 0 ? `#${purchaseOrderNumber}` : placeText(location)}`;
}

/** The batch and the place of an id. */
export function splitId(id: string): [batch: string, place: string] {
  const at = id.indexOf('~');
  return at < 0 ? [id, ''] : [id.slice(0, at), id.slice(at + 1)];
}

/** Where a page continues. A row that was closed meanwhile is found by its line. */
function indexAfter(rows: readonly Kept[], place: string): number {
  const exact = rows.findIndex(({ id }) => splitId(id)[1] === place);
  if (exact >= 0) return exact + 1;
  const line = Number(/^line (\d+)$/.exec(place)?.[1] ?? 0);
  const next = rows.findIndex(({ location }) => location.line > line);
  return next < 0 ? rows.length : next;
}

function articlesIn(payload: unknown): string[] {
  const { items } = (payload ?? {}) as { items?: unknown };
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => {
    const { articleCode } = (item ?? {}) as { articleCode?: unknown };
    return typeof articleCode === 'string' ? [articleCode] : [];
  });
}

function matcher({ kind, signature, batch, source, since, q }: RowFilter): (row: Kept) => boolean {
  const words = q?.trim().toLowerCase() ?? '';
  return (row) => {
    if (kind !== undefined && row.kind !== kind) return false;
    if (signature !== undefined && row.signature !== signature) return false;
    if (batch !== undefined && row.batch !== batch) return false;
    if (source !== undefined && row.source !== source) return false;
    if (since !== undefined && row.lastAt < since) return false;
    return words === '' || row.text.includes(words);
  };
}
