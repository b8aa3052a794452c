import { restore } from '../../order/formula.ts';
import type { Columns } from '../columns.ts';
import type { Row } from './row-parser.ts';

/**
 * The own cells of each row of a table, in the order of the rows: without a fix file's columns and with what that file
 * neutralized restored. `fillDown`: a blank order number repeats the one above, but not across an empty line.
 */
export function createOwnCells(columns: Columns, fillDown: boolean): (row: Row) => string[] {
  const { errorColumns, header, at } = columns;
  let above = '';

  function ownOf({ cells }: Row): string[] {
    if (errorColumns.length === 0) return cells;
    return cells.filter((_, index) => !errorColumns.includes(index)).map(restore);
  }

  function filled(row: Row): string[] {
    const cells = ownOf(row);
    const number = cells[at.purchaseOrderNumber] ?? '';
    const isWhole = cells.length === header.length;
    if (!isWhole || row.isAfterGap) above = '';
    if (number.trim() !== '') above = isWhole ? number : '';
    return number.trim() === '' && above !== '' && hasItem(cells) ? cells.with(at.purchaseOrderNumber, above) : cells;
  }

  function hasItem(cells: readonly string[]): boolean {
    return [at.articleCode, at.quantity].some((index) => index !== undefined && cells[index]?.trim() !== '');
  }

  return fillDown ? filled : ownOf;
}
