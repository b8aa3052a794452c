import { restore } from '../../order/spreadsheet.ts';
import { shorten } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { createFixColumns, type FixRow, type Originals } from '../read-fix-file.ts';
import type { Row } from './row-parser.ts';

/** The rows of a table as they are meant; call for each row once, in the order of the rows. */
export type OwnCells = {
  /** A row without a fix file's columns, and with what that file neutralized or a spreadsheet changed restored. */
  cellsOf(row: Row): string[];
  /** What a row of a fix file says about itself. */
  fixOf(row: Row): FixRow;
  /** Cells that were restored. */
  warnings(): string[];
};

const SHOWN = 5;

/** `fillDown`: a blank order number repeats the one above, but not across an empty line. */
export function createOwnCells(columns: Columns, fillDown: boolean, originals: Originals | undefined): OwnCells {
  const { errorColumns, header, at } = columns;
  const isFixFile = errorColumns.length > 0;
  const fix = createFixColumns(columns, originals);
  const restored: string[] = [];
  let count = 0;
  let above = '';

  function fixedCells({ cells, line }: Row): string[] {
    const own = cells.filter((_, index) => !errorColumns.includes(index)).map(restore);
    const changed = fix.changed(own, fix.read(cells));
    for (const [column, was] of changed) {
      count += 1;
      if (count <= SHOWN) restored.push(`line ${line}, ${header[column]}: ${shown(own[column])} was ${shown(was)}`);
      own[column] = was;
    }
    return own;
  }

  function filled(row: Row): string[] {
    const number = row.cells[at.purchaseOrderNumber] ?? '';
    const isComplete = row.cells.length === header.length;
    if (!isComplete || row.isAfterGap) above = '';
    if (number.trim() !== '') above = isComplete ? number : '';
    if (number.trim() !== '' || above === '' || !hasItem(row.cells)) return row.cells;
    return row.cells.with(at.purchaseOrderNumber, above);
  }

  function hasItem(cells: readonly string[]): boolean {
    return [at.articleCode, at.quantity].some((index) => index !== undefined && cells[index]?.trim() !== '');
  }

  return {
    cellsOf: isFixFile ? fixedCells : fillDown ? filled : ({ cells }) => cells,
    fixOf: ({ cells }) => (isFixFile ? fix.read(cells) : {}),
    warnings: () =>
      count === 0 ? [] : [`A spreadsheet changed ${count} cells, which were restored: ${list(restored, count)}.`],
  };
}

function shown(text = ''): string {
  return JSON.stringify(shorten(text, 40));
}

function list(shownOnes: readonly string[], count: number): string {
  const more = count - shownOnes.length;
  return [...shownOnes, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
