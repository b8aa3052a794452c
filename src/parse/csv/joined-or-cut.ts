import type { Mapping } from '../../config/config.ts';
import { shorten, trimBlanks } from '../../order/text.ts';
import { columnNamed, hasNeededColumns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import type { Row } from './row-parser.ts';

/** The cells of a row, separated by every delimiter that a file may have. */
export function partedCells(cells: readonly string[]): string[] {
  return cells.flatMap((cell) => cell.split(/[,;\t|]/));
}

/**
 * Rows above the header are titles, unless another file was joined before it. PoSyncError `unreadable-header` for a
 * header with another delimiter among them, and for a row that is an order by the columns of the header.
 */
export function refuseOrdersAbove(titles: readonly Row[], header: Row, mapping: Mapping): void {
  if (mapping.headerRow !== 'auto') return;
  const columns = (['purchaseOrderNumber', 'articleCode', 'quantity'] as const).map((field) =>
    columnNamed(field, header.cells, mapping),
  );
  for (const title of titles) {
    const [number = '', article = '', quantity = ''] = columns.map((column) =>
      trimBlanks(title.cells[column ?? -1] ?? ''),
    );
    const isOrder = /\d/.test(number) && article !== '' && /^\d[\d.,]*$/.test(quantity);
    if (isOrder || hasNeededColumns(partedCells(title.cells), mapping))
      throw above(title, header, isOrder);
  }
}

/** PoSyncError `unreadable-header` for a header with another delimiter: a file was joined below this one. */
export function refuseOtherDelimiter({ line, cells }: Row, header: Row, mapping: Mapping): void {
  if (cells.length >= header.cells.length || !hasNeededColumns(partedCells(cells), mapping)) return;
  const message = `Line ${line} (${shown(cells)}) is a second header with another delimiter than the header on line ${header.line}.`;
  throw unreadable(
    'header',
    message,
    { line },
    'Split the file before each header and drop the parts.',
  );
}

function above({ line, cells }: Row, header: Row, isOrder: boolean) {
  const what = isOrder
    ? 'looks like an order that would not be sent'
    : 'is a header with another delimiter';
  const message = `Line ${line} (${shown(cells)}) ${what}, above the header on line ${header.line}.`;
  const remedy = `Split the file before line ${header.line} and drop the parts; or set headerRow: ${header.line} in the mapping if the rows above are titles.`;
  return unreadable('header', message, { line }, remedy);
}

function shown(cells: readonly string[]): string {
  return shorten(cells.map((cell) => JSON.stringify(cell)).join(', '));
}

/** The values of a row that are not empty, joined by one space: what the patterns of a mapping are applied to. */
export function textOfRow({ cells }: Pick<Row, 'cells'>): string {
  return cells
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' ');
}

/**
 * Looks for the row with which the program ends a table, if `lastRow` names it. Without it, a file that was cut off at a
 * line end looks like a complete one.
 */
export function watchLastRow({ lastRow }: Pick<Mapping, 'lastRow'>) {
  const pattern = lastRow === undefined ? undefined : new RegExp(lastRow, 'u');
  let [last, end]: (Row | undefined)[] = [];

  return {
    isNamed: pattern !== undefined,
    isThere: () => end !== undefined,
    /** Whether a row that is not blank is the one. PoSyncError `unreadable-last-row` for a row below it. */
    is(row: Row): boolean {
      if (pattern === undefined) return false;
      if (end !== undefined) throw rowBelow(row, end);
      last = row;
      if (pattern.test(textOfRow(row))) end = row;
      return end !== undefined;
    },
    /** Call at the end of the table. PoSyncError `unreadable-last-row` if the row is not there. */
    require(header: Row | undefined): void {
      const row = last ?? header;
      if (lastRow !== undefined && end === undefined && row !== undefined)
        throw notComplete(row, lastRow);
    },
  };
}

function notComplete(row: Row, lastRow: string) {
  const { line } = row;
  const message = `The file is not complete: it ends with line ${line} (${quoted(row)}), not with the last row that its program writes (lastRow: ${JSON.stringify(lastRow)}). The program has not finished, or the file was cut off.`;
  const remedy =
    'Nothing of it was sent. Drop the complete file again; the next version of an export is read without further action. If the file is complete, ask your operator. For your operator: correct lastRow in the mapping of its source.';
  return unreadable('last-row', message, { line }, remedy);
}

function rowBelow(row: Row, end: Row) {
  const { line } = row;
  const message = `Line ${line} (${quoted(row)}) is below line ${end.line} (${quoted(end)}), which ends the file (lastRow). Files were joined, or a shorter file was written over a longer one.`;
  const remedy =
    'Nothing of it was sent. Drop the complete file again, each file separately. If the rows are right, ask your operator. For your operator: lastRow in the mapping must match nothing but the last row.';
  return unreadable('last-row', message, { line, end: end.line }, remedy);
}

function quoted(row: Row): string {
  return JSON.stringify(shorten(textOfRow(row), 60));
}
