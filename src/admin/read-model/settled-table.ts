import { changeTexts, closingWord, endOf } from '../../order/closing-text.ts';
import {
  type Closed,
  type Closings,
  closedBy,
  closingFor,
  type DeadLetter,
  errorLine,
} from '../../order/dead-letter.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { comparePlaces } from '../../order/record.ts';
import { alreadyText } from './kept-letter.ts';
import { searchText } from './letter-batch.ts';
import { idOf, splitId } from './letter-id.ts';

/** A dead letter that is closed, with who or what closed it. `id` as that of an open one. */
export type SettledRow = Pick<
  DeadLetter,
  'purchaseOrderNumber' | 'kind' | 'message' | 'location'
> & {
  id: string;
  batch: string;
  source: string;
  file: string;
  /** The first wrong column or property, and its line where that is not the order's. */
  field?: string;
  line?: number;
  /** Of a conflict: what was ordered, and what its file had. */
  already?: string;
  closed: Closed;
};

/** How an order ended that needed a person: `other`, for example, if the API's list showed it. */
export const ENDINGS = ['accepted', 'discarded', 'other'] as const;

/** Selects rows. `since` and `until` (exclusive) are ISO 8601; `q` is part of a number, a value, a file, or how it ended. */
export type SettledFilter = {
  since?: string;
  until?: string;
  who?: string;
  q?: string;
  end?: (typeof ENDINGS)[number];
  kind?: DeadLetterKind;
};

/** Rows that are kept, about 500 bytes each; those of the oldest batches are removed first. */
const MOST = 100_000;

/** The dead letters that were closed, in memory. */
export function createSettledTable(most = MOST) {
  const batches = new Map<string, SettledRow[]>();
  const byNumber = new Map<string, Set<string>>();
  let size = 0;
  /** The newest batch that was removed. */
  let dropped = '';
  let sorted: SettledRow[] | undefined;

  /** Replaces the rows of a batch by those of its dead letters that are closed, or that `closings` close. */
  function put(
    from: Pick<SettledRow, 'batch' | 'source' | 'file'>,
    letters: readonly DeadLetter[],
    closings: Closings,
  ) {
    removeSettled(from.batch);
    const rows = letters.flatMap((letter) => rowOf(from, letter, closings) ?? []);
    if (rows.length === 0 || from.batch <= dropped) return;
    batches.set(from.batch, rows);
    size += rows.length;
    for (const row of rows)
      for (const number of numbersOf(row)) batchesOfNumber(number).add(from.batch);
    for (const oldest of size > most ? [...batches.keys()].sort() : []) {
      if (size <= most) break;
      removeSettled(oldest);
      dropped = oldest;
    }
  }

  function batchesOfNumber(number: string): Set<string> {
    const found = byNumber.get(number) ?? new Set<string>();
    byNumber.set(number, found);
    return found;
  }

  function removeSettled(batch: string): void {
    const rows = batches.get(batch) ?? [];
    sorted = undefined;
    size -= rows.length;
    batches.delete(batch);
    for (const number of rows.flatMap(numbersOf)) {
      const found = byNumber.get(number);
      found?.delete(batch);
      if (found?.size === 0) byNumber.delete(number);
    }
  }

  /** What settled or changed an order, the newest first, with the count of all and of those on earlier pages. `after`: the `next` of the page before. */
  function settledPage(filter: SettledFilter, limit: number, after?: string) {
    sorted ??= actionsIn(batches.values());
    return pageOf(sorted, filter, limit, after);
  }

  /** The rows that had an order number, or got it by a correction. */
  function settledOf(number: string): SettledRow[] {
    const found = [...(byNumber.get(number) ?? [])].flatMap((batch) => batches.get(batch) ?? []);
    return found.filter((row) => numbersOf(row).includes(number));
  }

  return {
    put,
    removeSettled,
    settledPage,
    settledOf,
    settledIn: (batch: string) => batches.get(batch) ?? [],
  };
}

function pageOf(
  sorted: readonly SettledRow[],
  filter: SettledFilter,
  limit: number,
  after: string | undefined,
) {
  const words = searchText(filter.q ?? '');
  const who = searchText(filter.who ?? '');
  const last = after === undefined ? undefined : placeAt(after);
  const items: SettledRow[] = [];
  let [before, total] = [0, 0];
  for (const row of sorted) {
    if (filter.since !== undefined && row.closed.at < filter.since) continue;
    if (filter.until !== undefined && row.closed.at >= filter.until) continue;
    if (filter.end !== undefined && endingOf(row) !== filter.end) continue;
    if (filter.kind !== undefined && row.kind !== filter.kind) continue;
    if (!hasPerson(row, who) || (words !== '' && !textOf(row).includes(words))) continue;
    total += 1;
    if (last !== undefined && compareRows(row, last) <= 0) before += 1;
    else if (items.length < limit) items.push(row);
  }
  return { items, next: before + items.length < total ? lastKey(items) : undefined, before, total };
}

function endingOf({ closed }: SettledRow): SettledFilter['end'] {
  const { by, end } = closed;
  // What is accepted after that is another order with its number.
  const last = by === 'discarded' ? by : (endOf(closed) ?? end)?.by;
  return ENDINGS.find((one) => one === last) ?? 'other';
}

/**
 * Whether somebody settled or changed an order here. Rows that came back unchanged and needed a person again are settled
 * by the dead letter of the later batch, which has its own row.
 */
function isAction({ closed }: SettledRow): boolean {
  const cameBack =
    closed.by === 'fixed' && (closed.waitsIn !== undefined || closed.end !== undefined);
  return !cameBack || (closed.changes?.length ?? 0) > 0 || closed.number !== undefined;
}

function actionsIn(batches: Iterable<readonly SettledRow[]>): SettledRow[] {
  const actions = [...batches].flat().filter(isAction);
  return actions.sort(compareRows);
}

function rowOf(
  from: Pick<SettledRow, 'batch' | 'source' | 'file'>,
  letter: DeadLetter,
  closings: Closings,
) {
  const closing = letter.closed === undefined ? closingFor(letter, closings) : undefined;
  const closed = letter.closed ?? (closing && closedBy(closing));
  if (closed === undefined) return undefined;
  const { purchaseOrderNumber, kind, message, location } = letter;
  const { batch, source, file } = from;
  const field = letter.problems?.[0]?.field;
  const line = errorLine(letter);
  const already = kind === 'conflict' ? alreadyText(letter) : undefined;
  const what = {
    purchaseOrderNumber,
    kind,
    message,
    ...(field && { field }),
    location,
    ...(line !== location.line && { line }),
    ...(already && { already }),
    closed,
  };
  return { id: idOf(batch, letter), batch, source, file, ...what };
}

/** The same for an order in the results of its batch and for its dead letter. */
export function settledKey(
  kind: string,
  { purchaseOrderNumber, location }: Pick<SettledRow, 'purchaseOrderNumber' | 'location'>,
) {
  return JSON.stringify([kind, purchaseOrderNumber, location.line]);
}

function numbersOf({ purchaseOrderNumber, closed }: SettledRow): string[] {
  return [purchaseOrderNumber, closed.number ?? ''].filter((number) => number !== '');
}

type Placed = Pick<SettledRow, 'id'> & { closed: Pick<Closed, 'at'> };

/** The newest first. Those of one second, which is what pages show, are in the order of their file. */
function compareRows(a: Placed, b: Placed): number {
  const [second, other] = [a, b].map(({ closed }) => closed.at.slice(0, 19));
  if (second !== other) return (second ?? '') < (other ?? '') ? 1 : -1;
  const [[batch, place], [otherBatch, otherPlace]] = [splitId(a.id), splitId(b.id)];
  if (batch !== otherBatch) return batch < otherBatch ? 1 : -1;
  return comparePlaces(place, otherPlace);
}

function keyOf({ id, closed }: SettledRow): string {
  return `${closed.at} ${id}`;
}

/** The place of a row in the list, by its key. */
function placeAt(key: string): Placed {
  const at = key.indexOf(' ');
  return { id: key.slice(at + 1), closed: { at: key.slice(0, at) } };
}

function lastKey(items: readonly SettledRow[]): string | undefined {
  const last = items.at(-1);
  return last && keyOf(last);
}

function hasPerson({ closed }: SettledRow, who: string): boolean {
  return who === '' || (closed.who !== undefined && searchText(closed.who).includes(who));
}

function textOf({ purchaseOrderNumber, file, closed }: SettledRow): string {
  const { by, number = '', file: into = '', end, changes } = closed;
  const ends = [closingWord(by), end === undefined ? '' : closingWord(end.by), end?.file ?? ''];
  return searchText(
    [purchaseOrderNumber, number, file, into, ...ends, ...changeTexts(changes)].join('\n'),
  );
}
