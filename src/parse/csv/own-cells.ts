import { WERE_RESTORED } from '../../order/fixing.ts';
import type { FixFacts } from '../../order/record.ts';
import { shorten } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { createFixRows, type FixSummary } from '../fix-rows.ts';
import type { Originals } from '../read-fix-file.ts';
import type { Row } from './row-parser.ts';

/** The rows of a table as they are meant; call for each row once, in the order of the rows. */
export type OwnCells = {
  /** A row without a fix file's columns, and with what that file neutralized or a spreadsheet changed restored. */
  cellsOf(row: Row): string[];
  /** What a row of a fix file says about itself. */
  fixOf(row: Row): FixFacts;
  /** Cells that were restored. */
  warnings(): string[];
};

const SHOWN = 5;

/** What turns the rows of one table into what they mean. `summary`: of a fix file, after the first pass. */
type OwnCellsOptions = {
  columns: Columns;
  fillDown: boolean;
  originals: Originals | undefined;
  summary: FixSummary | undefined;
};

/** `fillDown`: a blank order number repeats the one above, but not across an empty line. */
export function createOwnCells({
  columns,
  fillDown,
  originals,
  summary,
}: OwnCellsOptions): OwnCells {
  const { errorColumns, header, at } = columns;
  const isFixFile = errorColumns.length > 0;
  const fix = createFixRows(columns, originals, summary);
  const shownOnes: string[] = [];
  let count = 0;
  let above = '';

  function fixedCells({ cells, line }: Row): string[] {
    const own = fix.read(cells);
    for (const [column, was] of own.restored) {
      count += 1;
      if (count > SHOWN) continue;
      shownOnes.push(
        `line ${line}, ${header[column]}: ${shown(own.returned[column])} was ${shown(was)}`,
      );
    }
    return own.cells;
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
    return [at.articleCode, at.quantity].some(
      (index) => index !== undefined && cells[index]?.trim() !== '',
    );
  }

  return {
    cellsOf: isFixFile ? fixedCells : fillDown ? filled : ({ cells }) => cells,
    fixOf: ({ cells }) => (isFixFile ? fix.read(cells).facts : {}),
    warnings: () =>
      count === 0
        ? []
        : [`A spreadsheet changed ${count} cells, ${WERE_RESTORED}: ${list(shownOnes, count)}.`],
  };
}

function shown(text = ''): string {
  return JSON.stringify(shorten(text, 40));
}

function list(some: readonly string[], count: number): string {
  const more = count - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
