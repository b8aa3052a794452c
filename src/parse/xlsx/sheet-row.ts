import { LIMITS } from '../../order/limits.ts';
import { readQuantity } from '../../order/quantity.ts';
import { trimBlanks } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import type { Row } from '../csv/row-parser.ts';
import type { NumberFault } from './shown-number.ts';

type CellFault = NumberFault | 'boolean' | 'formula' | '';

/**
 * A sheet's row as it goes from the process that read it to the one that uses it. `special`: the cells whose text does
 * not show everything, each with its column (from 0), its plain value, and why its text is not certain ("" if it is).
 */
export type SheetRow = {
  line: number;
  /** As shown, without the empty cells at its end. */
  cells: string[];
  special: [column: number, plain: string, fault: CellFault][];
};

/**
 * What is read, but nobody sees: hidden rows, hidden columns from one index to another, and by column the cells whose text
 * has the color of its background. `lines` are the first ones. `isFiltered`: a filter is set.
 */
export type Unseen = {
  rows: Lines;
  columns: [from: number, to: number][];
  pale: (Lines | null)[];
  isFiltered: boolean;
  /** Other visible sheets with data, where the mapping names the one that is read. */
  notRead?: string[];
};

export type Lines = { count: number; lines: number[] };

export type Decimal = '.' | ',' | 'auto';

/** The rows of a sheet as those of a table, page by page; `find` gives the fields' columns if a row is the header. */
export async function* tableRows(
  pages: AsyncIterable<readonly SheetRow[]>,
  decimal: Decimal,
  find: (row: SheetRow) => Columns['at'] | undefined,
  { look, isMixed = false }: QuantityWatch = {},
): AsyncGenerator<Row[]> {
  let header: Header | undefined;
  let lastLine = 0;
  for await (const page of pages) {
    header ??= headerOf(page, find);
    if (header === undefined) continue;
    const { width, at } = header;
    yield page.map((row) => {
      const isAfterGap = row.line > lastLine + 1;
      lastLine = row.line;
      look?.(row, at.quantity);
      const cells = tableCells(row, width, at, { decimal, isMixed });
      return { line: row.line, cells, bytes: sizeOf(cells), isOneLine: true, isAfterGap };
    });
  }
}

type Header = { width: number; at: Columns['at'] };

type HowToWrite = { decimal: Decimal; isMixed: boolean };

/** `look` gets each row; `isMixed` as `watchMixedQuantities` found. */
type QuantityWatch = {
  look?: (row: SheetRow, quantity: number | undefined) => void;
  isMixed?: boolean;
};

/**
 * Looks for a quantity that is text although it has a decimal sign, such as `3,5`: the spreadsheet did not read it as a
 * number, so it may have read `1.200` as 1.2. `at` is its line, if the column also has numbers with a fraction.
 */
export function watchMixedQuantities() {
  let at: number | undefined;
  let hasFraction = false;
  return {
    at: () => (hasFraction ? at : undefined),
    look({ line, cells, special }: SheetRow, column: number | undefined): void {
      if (column === undefined) return;
      const own = special.find(([index]) => index === column);
      if (own !== undefined) hasFraction ||= /^\d+\.\d{1,3}$/.test(own[1]);
      if (at !== undefined || own !== undefined) return;
      const text = trimBlanks(cells[column] ?? '');
      if (!/[.,]/.test(text)) return;
      const read = readQuantity(text, 'auto', false);
      if ('value' in read || read.fault === 'ambiguous-number') at = line;
    },
  };
}

/** The header, or the first row if none of the page is one: it is refused then. */
function headerOf(
  page: readonly SheetRow[],
  find: (row: SheetRow) => Columns['at'] | undefined,
): Header | undefined {
  for (const row of page) {
    const at = find(row);
    if (at) return { width: row.cells.length, at };
  }
  const [first] = page;
  return first && { width: first.cells.length, at: { purchaseOrderNumber: 0 } };
}

/**
 * The cells of a row, at least as many as the header has. A value that is sent, but does not show what it is, becomes a
 * formula text that every check refuses; a quantity is read from the number, not from how it is shown.
 */
function tableCells(
  { cells, special }: SheetRow,
  width: number,
  at: Columns['at'],
  how: HowToWrite,
): string[] {
  const all = [...cells, ...Array<string>(Math.max(0, width - cells.length)).fill('')];
  for (const [column, plain, fault] of special) {
    const shown = cells[column] ?? '';
    if (column === at.quantity) all[column] = quantityText(plain, shown, fault, how);
    else if (fault !== '' && fault !== 'labeled' && isSent(column, at))
      all[column] = uncertain(shown === '' ? plain : shown);
  }
  return all;
}

function quantityText(plain: string, shown: string, fault: CellFault, how: HowToWrite): string {
  switch (fault) {
    case 'date':
    case 'hidden':
    case 'format':
    case 'struck':
    case 'scaled':
    case 'labeled':
    case 'boolean':
    case 'formula':
      return uncertain(shown === '' ? plain : shown);
    case 'fraction':
    case 'digits':
    case 'locale':
    case '':
      return fraction(plain, how);
  }
}

function uncertain(text: string): string {
  return `="${text}"`;
}

/** `1.234` could be a thousand and more: a zero at its end decides. In mixed columns, every fraction gets one. */
function fraction(text: string, { decimal, isMixed }: HowToWrite): string {
  const certain = (isMixed ? /^-?\d+\.\d{1,3}$/ : /^-?\d+\.\d{3}$/).test(text) ? `${text}0` : text;
  return decimal === ',' ? certain.replace('.', ',') : certain;
}

function isSent(index: number, at: Columns['at']): boolean {
  return Object.values(at).includes(index);
}

/** Too much for one row: the same limit as for every other table. */
export function isTooLong({ cells }: SheetRow): boolean {
  return sizeOf(cells) > LIMITS.recordBytes;
}

function sizeOf(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.length + 1, 0);
}
