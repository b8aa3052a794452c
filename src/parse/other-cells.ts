import { isSpreadsheetDamage } from '../order/spreadsheet.ts';
import type { Columns } from './columns.ts';
import type { Originals } from './read-fix-file.ts';

/**
 * The cells of a row that came back, in which columns that are not sent have again what a spreadsheet changed: the program that
 * reads the answer finds its rows by them, such as the position `0010`. `original`: its cells as
 * po-sync wrote them; `mayBeChanged`: a program rewrote the row.
 */
export function withOtherCells(
  cells: readonly string[],
  { original, mayBeChanged }: { original: readonly string[] | undefined; mayBeChanged: boolean },
  { columns: { header, at }, originals }: { columns: Columns; originals: Originals | undefined },
): readonly string[] {
  const before = originals?.header;
  if (!mayBeChanged || original === undefined || before === undefined) return cells;
  const sent = new Set(Object.values(at));
  return cells.map((cell, column) => {
    const was = sent.has(column) ? undefined : original[placeIn(before, header, column)];
    return was !== undefined && isSpreadsheetDamage(was, cell) ? was : cell;
  });
}

/** Where a column was; -1 for one that is new, or moved while others have its name. */
function placeIn(before: readonly string[], header: readonly string[], column: number): number {
  const name = header[column] ?? '';
  if (before[column] === name) return column;
  return before.lastIndexOf(name) === before.indexOf(name) ? before.indexOf(name) : -1;
}
