import type { Problem } from '../order/problem.ts';
import type { Row } from '../parse/record.ts';
import type { Inventory, Layout } from './layout.ts';
import { trimmed } from './line.ts';
import type { Column, Plan } from './plan.ts';
import { problemAt } from './problem.ts';
import { createPlacing, type Sink, type Sorter } from './sort.ts';
import { unreadable } from './unreadable.ts';

// Rule 2 for tables: every row has the header's width and no line break that its column does not allow.

/** What the first pass learns beside the orders. */
export type Watch = {
  undeclared: Inventory;
  /** Values beyond the header, by their position, and how many rows have some. */
  surplus: Inventory;
  wider: number;
  /** Rows that are neither empty nor skipped. */
  rows: number;
};

/** Characters of a line that patterns see. */
const SEEN = 4_096;

/** Sorts the rows of a table whose columns have one meaning in all rows. */
export function createRowSorter(plan: Plan, layout: Layout, sink: Sink, watch?: Watch): Sorter {
  const placing = createPlacing(plan, layout, sink);
  const ends = createRowEnds(plan, sink);
  const { header, isWider } = layout;
  const placed = plan.columns.map((column, index) => ({ column, at: layout.at[index] ?? -1 }));
  const faultOf = createShape(placed, plan, {
    most: isWider ? undefined : header?.length,
    nameOf: (at) => header?.[at] ?? String(at + 1),
  });
  const numberAt = layout.at[plan.number] ?? -1;
  const look = watch && createLook(plan, layout, watch);
  const isHeader = createIsHeader(plan, layout);

  return {
    add(record) {
      if (record.kind !== 'row' || record.line <= layout.line) return;
      if (isEmpty(record, numberAt) || isHeader(record) || ends.isSkipped(record)) return;
      look?.(record);
      const problem = faultOf(record);
      if (problem === undefined) placing.place(record);
      else placing.damaged(record, problem);
    },
    end: ends.end,
  };
}

function isEmpty({ cells }: Row, numberAt: number): boolean {
  const number = cells[numberAt];
  if (number !== undefined && number.charCodeAt(0) > 32 && trimmed(number) !== '') return false;
  return cells.every((cell) => trimmed(cell) === '');
}

function createIsHeader({ number }: Plan, { header, at }: Layout): (row: Row) => boolean {
  const where = at[number] ?? -1;
  const name = header?.[where];
  if (header === undefined || name === undefined) return () => false;
  const isRest = (cells: readonly string[], from: number) =>
    cells.slice(from).every((cell) => trimmed(cell) === '');

  return ({ cells }) =>
    cells[where] !== undefined &&
    trimmed(cells[where]) === name &&
    header.every((one, index) => trimmed(cells[index] ?? '') === one) &&
    isRest(cells, header.length);
}

/** What `skipRows` and `lastRow` say about rows, whatever columns these have. */
export function createRowEnds({ skipRows, lastRow }: Plan, sink: Sink) {
  let endedAt: number | undefined;
  const hasPatterns = skipRows.length > 0 || lastRow !== undefined;

  return {
    isSkipped(row: Row): boolean {
      if (!hasPatterns) return false;
      if (endedAt !== undefined)
        throw unreadable({ code: 'unreadable-after-last-row', line: row.line });
      // A row of a workbook is not written as a line: its cells stand for it.
      const line = (row.written ?? row.cells.join('\t')).slice(0, SEEN);
      if (lastRow?.test(line) === true) {
        endedAt = row.line;
        return true;
      }
      if (!skipRows.some((pattern) => pattern.test(line))) return false;
      sink.leftOut(row, '', false);
      return true;
    },
    end() {
      if (lastRow !== undefined && endedAt === undefined)
        throw unreadable({ code: 'unreadable-no-last-row' });
    },
  };
}

/** A column and where it is in rows. */
export type Placed = { column: Column; at: number };

type Shape = { most?: number | undefined; nameOf: (at: number) => string };

/** Finds what is wrong with the shape of a row of these columns; `most`: cells that a row may have. */
export function createShape(placed: readonly Placed[], { mapping }: Plan, of: Shape) {
  const { most = Number.MAX_SAFE_INTEGER, nameOf } = of;
  const least = Math.max(-1, ...placed.map(({ column, at }) => (column.isIgnored ? -1 : at))) + 1;
  const mayBreak = new Set(placed.flatMap(({ column, at }) => (column.lineBreaks ? [at] : [])));
  const widest = mapping.widths?.length ?? Number.MAX_SAFE_INTEGER;

  return (row: Row): Problem | undefined => {
    const { cells } = row;
    const { length } = cells;
    if (length < least || (length > most && hasValueFrom(cells, most)))
      return problemAt(row, 'width', { cells: length, columns: of.most ?? least });
    const { strayAt = least } = row;
    if (strayAt < least)
      return problemAt(
        row,
        'stray-quote',
        {},
        { column: nameOf(strayAt), value: cells[strayAt] ?? '' },
      );
    if (length > widest && hasValueFrom(cells, widest)) return problemAt(row, 'line-length', {});
    for (let at = 0; at < length; at++)
      if (hasLineBreak(cells[at] ?? '') && !mayBreak.has(at))
        return problemAt(row, 'line-break', {}, { column: nameOf(at) });
    return undefined;
  };
}

/** Whether a cell has a line break inside. */
export function hasLineBreak(cell: string): boolean {
  for (let at = 0; at < cell.length; at++) {
    const unit = cell.charCodeAt(at);
    if (unit === 10 || unit === 13) return true;
  }
  return false;
}

function hasValueFrom(cells: readonly string[], from: number): boolean {
  for (let index = from; index < cells.length; index++)
    if (trimmed(cells[index] ?? '') !== '') return true;
  return false;
}

/** Watches columns that nobody declared, rows wider than the header, and hidden rows. */
function createLook({ mapping }: Plan, layout: Layout, watch: Watch): (row: Row) => void {
  const { header, undeclaredAt } = layout;
  const names = undeclaredAt.map((at) => header?.[at] || String(at + 1));
  for (const [index, at] of undeclaredAt.entries())
    if (header?.[at] !== '') watch.undeclared.name(names[index] ?? '');
  const declared = new Set(layout.at);
  const into = header === undefined ? watch.undeclared : watch.surplus;
  const from = header?.length ?? 0;
  // What is longer than its widths is damaged, and no column.
  const to = mapping.widths?.length ?? Number.MAX_SAFE_INTEGER;

  return (row) => {
    const { cells } = row;
    watch.rows += 1;
    for (let index = 0; index < undeclaredAt.length; index++) {
      const value = trimmed(cells[undeclaredAt[index] ?? -1] ?? '');
      if (value !== '') watch.undeclared.add(names[index] ?? '', value);
    }

    let isWider = false;
    for (let at = from; at < cells.length && at < to; at++) {
      const value = trimmed(cells[at] ?? '');
      if (value === '' || (header === undefined && declared.has(at))) continue;
      into.add(String(at + 1), value);
      isWider = header !== undefined;
    }
    if (isWider) watch.wider += 1;
  };
}
