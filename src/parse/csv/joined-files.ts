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
    if (isOrder || hasNeededColumns(partedCells(title.cells), mapping)) throw above(title, header, isOrder);
  }
}

/** PoSyncError `unreadable-header` for a header with another delimiter: a file was joined below this one. */
export function refuseOtherDelimiter({ line, cells }: Row, header: Row, mapping: Mapping): void {
  if (cells.length >= header.cells.length || !hasNeededColumns(partedCells(cells), mapping)) return;
  const message = `Line ${line} (${shown(cells)}) is a second header with another delimiter than the header on line ${header.line}.`;
  throw unreadable('header', message, { line }, 'Split the file before each header and drop the parts.');
}

function above({ line, cells }: Row, header: Row, isOrder: boolean) {
  const what = isOrder ? 'looks like an order that would not be sent' : 'is a header with another delimiter';
  const message = `Line ${line} (${shown(cells)}) ${what}, above the header on line ${header.line}.`;
  const remedy = `Split the file before line ${header.line} and drop the parts; or set headerRow: ${header.line} in the mapping if the rows above are titles.`;
  return unreadable('header', message, { line }, remedy);
}

function shown(cells: readonly string[]): string {
  return shorten(cells.map((cell) => JSON.stringify(cell)).join(', '));
}
