import { plainName } from '../config/mapping-schema.ts';
import { trimmed } from '../mapping/line.ts';
import { shorten } from '../order/text.ts';
import type { Row } from '../parse/record.ts';
import { namedRoles } from './names.ts';
import {
  BOUNDS,
  isDeclarable,
  nothingIn,
  type Sample,
  type Table,
  type TableRow,
} from './table.ts';

/** Rows among which the header is. */
const HEADER_ROWS = 50;

/** The rows of a table below its header. PoSyncError `map-empty` where it has none with a value. */
export function tableOfRows({ records, isAll, ...given }: Sample): Table {
  const all = records.filter(
    (record): record is Row => record.kind === 'row' && record.cells.some((one) => trimmed(one)),
  );
  const header = findHeader(all);
  const names = header?.cells.map(trimmed) ?? [];
  const isHeader = (row: Row) =>
    header !== undefined && row.cells.every((cell, at) => trimmed(cell) === (names[at] ?? ''));
  const rows = all.filter((row) => row.line > (header?.line ?? 0) && !isHeader(row));
  if (rows.length === 0) throw nothingIn(given.file);

  const ofHeader = filledIn(rows, names.length);
  const byPosition = header === undefined ? 'no row looks like a header' : unnamed(names, ofHeader);
  // Without names, a value beyond the usual width is in a column as well.
  const width = byPosition === undefined ? names.length : widestOf(rows);
  const filled = filledIn(rows, width);
  const columns = columnsOf(names, filled, byPosition !== undefined);
  return {
    ...given,
    columns: columns.map(({ name }) => ({ name, steps: [name], isInItems: false })),
    rows: rows.map((row) => rowOf(row, columns)),
    header: header && { line: header.line, written: writtenOf(header) },
    byPosition,
    notes: isAll ? [] : [`only the first ${rows.length} rows were looked at`],
  };
}

/** The first row with the most usual names; without such, the first that has names and is followed by values. */
function findHeader(rows: readonly Row[]): Row | undefined {
  const first = rows.slice(0, HEADER_ROWS);
  const named = first.map(({ cells }) => namedRoles(cells));
  const most = Math.max(0, ...named);
  // One usual name can also be in a title or a value.
  if (most >= 2) return first[named.indexOf(most)];

  const width = usualWidth(first);
  const candidate = first.find(({ cells }) => cells.length >= width);
  if (candidate === undefined || candidate === rows.at(-1)) return undefined;
  const cells = candidate.cells.map(trimmed);
  const isNamed = (cell: string) => /\p{L}/u.test(cell) && cell.length <= 60;
  const isAllNamed = cells.every((cell) => cell === '' || isNamed(cell));
  const values = first.filter(({ line }) => line > candidate.line);
  const hasDigits = values.some((row) => row.cells.some((cell) => /\d/.test(cell)));
  const isOwn = values.every((row) =>
    row.cells.every((cell, at) => cell === '' || trimmed(cell) !== cells[at]),
  );
  return isAllNamed && hasDigits && isOwn && !cells.some((cell) => /\d{2}/.test(cell))
    ? candidate
    : undefined;
}

function usualWidth(rows: readonly Row[]): number {
  const widths = new Map<number, number>();
  for (const { cells } of rows) widths.set(cells.length, (widths.get(cells.length) ?? 0) + 1);
  return [...widths].reduce((most, one) => (one[1] > most[1] ? one : most), [1, 0])[0];
}

/** Cells of the longest row, up to its last value. */
function widestOf(rows: readonly Row[]): number {
  return rows.reduce(
    (most, { cells }) => Math.max(most, cells.findLastIndex((cell) => trimmed(cell) !== '') + 1),
    0,
  );
}

/** Which columns have a value in some row. */
function filledIn(rows: readonly Row[], width: number): boolean[] {
  const filled = Array.from({ length: Math.min(width, BOUNDS.columns) }, () => false);
  for (const { cells } of rows)
    for (let at = 0; at < filled.length; at++)
      if (filled[at] === false && trimmed(cells[at] ?? '') !== '') filled[at] = true;
  return filled;
}

/** Why the names of a header cannot be declared; undefined where they can. */
function unnamed(names: readonly string[], filled: readonly boolean[]): string | undefined {
  const known = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name === '' && filled[at] === false) continue;
    const shown = name === '' ? String(at + 1) : name;
    if (/\p{Cc}/u.test(shown)) return `the name "${shorten(shown, 40)}" has a line break`;
    if (!isDeclarable(shown)) return `the name "${shorten(shown, 40)}" cannot be declared`;
    if (known.has(plainName(shown))) return `two columns are called "${shorten(shown, 40)}"`;
    known.add(plainName(shown));
  }
  return undefined;
}

function columnsOf(names: readonly string[], filled: readonly boolean[], isByPosition: boolean) {
  return filled.flatMap((isFilled, at) => {
    const name = isByPosition ? '' : (names[at] ?? '');
    if (name === '' && !isFilled && !isByPosition) return [];
    return [{ name: name === '' ? String(at + 1) : name, at }];
  });
}

function rowOf(row: Row, columns: readonly { at: number }[]): TableRow {
  return {
    line: row.line,
    cells: columns.map(({ at }) => trimmed(row.cells[at] ?? '')),
    written: writtenOf(row),
    ...(row.odd && {
      odd: Object.fromEntries(columns.map(({ at }, index) => [index, row.odd?.[at]])),
    }),
  };
}

/** The line that `skipRows` sees. */
function writtenOf(row: Row): string {
  return row.written ?? row.cells.join('\t');
}
