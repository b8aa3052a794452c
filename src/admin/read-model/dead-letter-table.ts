import type { DeadLetter } from '../../order/dead-letter.ts';
import { splitId } from '../../order/letter-id.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { keptOf } from './kept-letter.ts';
import {
  createLetterBatch,
  type DeadLetterRow,
  type Kept,
  type LetterBatch,
  type RowFilter,
  type Selected,
  searchText,
} from './letter-batch.ts';

/** Rows of one kind and signature. */
export type RowGroup = Pick<
  DeadLetterRow,
  'kind' | 'signature' | 'code' | 'message' | 'firstAt' | 'lastAt'
> & {
  count: number;
  /** How many batches have such rows. */
  batches: number;
  /** The message is that of one row; those of others contain other values. */
  isExample: boolean;
  /** How many are rows without an order number. */
  nameless: number;
};

/** Everything that matches. `already`: how many of them another file has. */
export type RowSummary = { total: number; already: number; groups: RowGroup[] } & {
  kinds: Partial<Record<DeadLetterKind, number>>;
};

/** `rows`: everything that matches, where that is little, so that its pages need no second search. */
type KeptSummary = RowSummary & { rows: readonly DeadLetterRow[] | undefined };

/** Filters whose summaries are kept until something changes, and the most rows that each keeps. */
const SUMMARIES = 50;
const LITTLE = 1_000;

export type RowPage = { items: DeadLetterRow[]; next: string | undefined };

/** The open dead letters of an environment in memory, about 1 kB each: the newest batch first, in the order of its file. */
export function createDeadLetterTable() {
  const batches = new Map<string, LetterBatch>();
  const summaries = new Map<string, KeptSummary>();
  /** Names sort by time. */
  let names: string[] | undefined = [];

  /** Replaces the rows of a batch. */
  function put(
    from: { batch: string; source: string; file: string },
    letters: readonly DeadLetter[],
  ): void {
    const open = letters.filter(({ closed }) => closed === undefined).sort(byLine);
    keep(
      from,
      open.map((one) => keptOf(one, from)),
    );
  }

  function keep(
    { batch, source, file }: { batch: string; source: string; file: string },
    rows: readonly Kept[],
  ): void {
    if (rows.length === 0) {
      remove(batch);
      return;
    }
    if (!batches.has(batch)) names = undefined;
    batches.set(batch, createLetterBatch({ source, file }, rows));
    summaries.clear();
  }

  function remove(batch: string): void {
    if (batches.delete(batch)) names = undefined;
    summaries.clear();
  }

  /** Removes the rows of a batch with these ids. */
  function close(batch: string, closed: readonly string[]): void {
    const found = batches.get(batch);
    if (found === undefined) return;
    keep(
      { batch, ...found.from },
      found.kept.filter(({ row }) => !closed.includes(row.id)),
    );
  }

  /** The newest first, beginning with `from`. */
  function* matching(
    { batch, source }: RowFilter,
    from?: string,
  ): Generator<[name: string, found: LetterBatch]> {
    names ??= [...batches.keys()].sort().reverse();
    for (const name of batch === undefined ? names : [batch]) {
      const found = batches.get(name);
      if (found === undefined || (from !== undefined && name > from)) continue;
      if (source === undefined || found.from.source === source) yield [name, found];
    }
  }

  /** The order number of an open dead letter; undefined when it is not there. */
  function numberOf(id: string): string | undefined {
    const [batch] = splitId(id);
    return batches.get(batch)?.rows.find((row) => row.id === id)?.purchaseOrderNumber;
  }

  return { put, remove, close, numberOf, ...createQueries(matching, summaries) };
}

/** Orders that another row or file holds are reported after the others of their file. */
const byLine = (a: DeadLetter, b: DeadLetter) => a.location.line - b.location.line;

/** Kind → signature → group: a joined key for each row would double the time. */
type Groups = Map<DeadLetterKind, Map<string, RowGroup>>;

/** Adds the rows of one kind and signature of a batch. */
function addToGroup(
  all: Groups,
  { firstAt, lastAt, at, differs, nameless }: Selected,
  first: DeadLetterRow,
): void {
  const { kind, signature, code, message } = first;
  const groups = all.get(kind) ?? new Map<string, RowGroup>();
  const group = groups.get(signature);
  if (group === undefined) {
    all.set(kind, groups);
    const facts = { firstAt, lastAt, count: at.length, batches: 1, isExample: differs, nameless };
    groups.set(signature, { kind, signature, code, message, ...facts });
    return;
  }
  if (differs || message !== group.message) group.isExample = true;
  group.count += at.length;
  group.batches += 1;
  group.nameless += nameless;
  if (firstAt < group.firstAt) group.firstAt = firstAt;
  if (lastAt > group.lastAt) group.lastAt = lastAt;
}

type Matching = (filter: RowFilter, from?: string) => Iterable<[name: string, found: LetterBatch]>;

/** `summaries`: what was counted since the last change, by filter. */
function createQueries(matching: Matching, summaries: Map<string, KeptSummary>) {
  /** At most `limit` rows after the row with the id `after`, which may be closed meanwhile. */
  function page(filter: RowFilter, limit: number, after?: string): RowPage {
    const items: DeadLetterRow[] = [];
    for (const row of rowsOf(filter, after)) {
      if (items.length === limit) return { items, next: items.at(-1)?.id };
      items.push(row);
    }
    return { items, next: undefined };
  }

  function rowsOf(filter: RowFilter, after: string | undefined): Iterable<DeadLetterRow> {
    const { rows } = kept(filter);
    const at = after === undefined ? -1 : (rows?.findIndex(({ id }) => id === after) ?? -1);
    const isKnown = rows !== undefined && (after === undefined || at >= 0);
    return isKnown ? rows.slice(at + 1) : search(filter, after);
  }

  function* search(filter: RowFilter, after: string | undefined): Generator<DeadLetterRow> {
    const words = searchText(filter.q ?? '');
    const [last] = after === undefined ? [] : splitId(after);
    for (const [name, { rows, select }] of matching(filter, last)) {
      const from = after !== undefined && name === last ? indexAfter(rows, after) : 0;
      yield* inOrder(rows, select(filter, words), from);
    }
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
    const found = count(filter, matching);
    summaries.set(key, found);
    const [oldest] = summaries.keys();
    if (summaries.size > SUMMARIES && oldest !== undefined) summaries.delete(oldest);
    return found;
  }

  return { page, summary };
}

function count(filter: RowFilter, matching: Matching): KeptSummary {
  const words = searchText(filter.q ?? '');
  const little: DeadLetterRow[] = [];
  const kinds: RowSummary['kinds'] = {};
  const groups: Groups = new Map();
  let [total, already] = [0, 0];
  for (const [, { rows, select }] of matching(filter)) {
    const selected = select(filter, words);
    for (const share of selected) {
      const first = rows[share.at[0] ?? 0];
      if (first === undefined) continue;
      total += share.at.length;
      already += share.already;
      kinds[first.kind] = (kinds[first.kind] ?? 0) + share.at.length;
      addToGroup(groups, share, first);
    }
    if (total < LITTLE) little.push(...inOrder(rows, selected, 0));
  }
  const each = [...groups.values()].flatMap((ofKind) => [...ofKind.values()]);
  const largest = each.sort((a, b) => b.count - a.count);
  return { total, already, kinds, groups: largest, rows: total < LITTLE ? little : undefined };
}

/** The selected rows of a batch from a position on, in the order of its file. */
function inOrder(
  rows: readonly DeadLetterRow[],
  selected: readonly Selected[],
  from: number,
): DeadLetterRow[] {
  const [one, ...others] = selected;
  const at =
    others.length === 0
      ? (one?.at ?? [])
      : selected.flatMap((share) => share.at).sort((a, b) => a - b);
  return at.filter((position) => position >= from).flatMap((position) => rows[position] ?? []);
}

/** Where a page continues, also if its last row was closed meanwhile. */
function indexAfter(rows: readonly DeadLetterRow[], after: string): number {
  const exact = rows.findIndex(({ id }) => id === after);
  if (exact >= 0) return exact + 1;
  const [, ordinal] = splitId(after);
  const next = rows.findIndex(({ id }) => splitId(id)[1] > ordinal);
  return next < 0 ? rows.length : next;
}
