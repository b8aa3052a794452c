import { LIMITS } from '../../order/limits.ts';
import type { Columns } from '../columns.ts';
import type { Row } from '../csv/row-parser.ts';

/** A sheet's row as it goes from the thread that read it to the one that uses it. Indexes count from 0. */
export type SheetRow = {
  line: number;
  /** Without the empty cells at its end. */
  cells: string[];
  /** Which cells are dates. */
  dates: number[];
  /** Which cells are numbers with a fraction, written with a point. */
  fractions: number[];
};

/** Excel keeps fifteen digits of a number (specifications and limits of Excel). */
const DIGITS = 15;

/** A number as a cell without a format of its own shows it: `1.1` for 1.1000000000000001, `1.23E+18` beyond its digits. */
export function shownNumber(stored: string): string {
  const number = Number(stored);
  if (stored.trim() === '' || !Number.isFinite(number)) return stored;
  const rounded = Number(number.toPrecision(DIGITS));
  return Math.abs(rounded) < 10 ** DIGITS ? String(rounded) : rounded.toExponential().toUpperCase();
}

/** A date as text, to the second: `2026-11-21` or `2026-11-21T07:15:00`. */
export function shownDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return '#DATE';
  return date.toISOString().slice(0, 19).replace('T00:00:00', '');
}

/**
 * A sheet's row as a row of a table, as wide as its header. A date in a column that is sent becomes a text that every
 * check refuses as a spreadsheet's damage; a fraction is written so that no decimal sign can be mistaken.
 */
function tableRow(row: SheetRow, width: number, at: Columns['at'], decimal: '.' | ',' | 'auto') {
  const cells =
    row.cells.length < width ? [...row.cells, ...Array<string>(width - row.cells.length).fill('')] : row.cells;
  for (const index of row.dates) if (isSent(index, at)) cells[index] = `="${cells[index]}"`;
  const { quantity } = at;
  if (quantity !== undefined && row.fractions.includes(quantity)) {
    cells[quantity] = fraction(cells[quantity] ?? '', decimal);
  }
  return { line: row.line, cells, bytes: sizeOf(cells) };
}

/** The rows of a sheet as those of a table, page by page; `find` tells from the first where the fields stand. */
export async function* tableRows(
  pages: AsyncIterable<readonly SheetRow[]>,
  decimal: '.' | ',' | 'auto',
  find: (header: SheetRow) => Columns['at'],
): AsyncGenerator<Row[]> {
  let header: { width: number; at: Columns['at'] } | undefined;
  let lastLine = 0;
  for await (const page of pages) {
    const [first] = page;
    if (first === undefined) continue;
    header ??= { width: first.cells.length, at: find(first) };
    const { width, at } = header;
    yield page.map((row) => {
      const isAfterGap = row.line > lastLine + 1;
      lastLine = row.line;
      return { ...tableRow(row, width, at, decimal), isOneLine: true, isAfterGap };
    });
  }
}

/** Too much for one row: the same limit as for every other table. */
export function isTooLong(row: SheetRow): boolean {
  return sizeOf(row.cells) > LIMITS.recordBytes;
}

function sizeOf(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.length + 1, 0);
}

function isSent(index: number, at: Columns['at']): boolean {
  return Object.values(at).includes(index);
}

/** `1.234` could be a thousand and more: a zero at its end tells. */
function fraction(text: string, decimal: '.' | ',' | 'auto'): string {
  const told = /^-?\d+\.\d{3}$/.test(text) ? `${text}0` : text;
  return decimal === ',' ? told.replace('.', ',') : told;
}
