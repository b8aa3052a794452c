import type { Row } from './row-parser.ts';

/** Separates a table's rows from its header and from rows without any value. */
export type TableBody = {
  /** The first row that is not blank, once it was read. */
  header: Row | undefined;
  /** Rows skipped because all their cells are blank. */
  blankRows: number;
  /** Those of the next rows of the file that contain data. */
  take(rows: readonly Row[]): readonly Row[];
};

export function createTableBody(hasSepLine: boolean): TableBody {
  let isSepLineDue = hasSepLine;
  let isAfterGap = false;
  const body: TableBody = { header: undefined, blankRows: 0, take };

  function take(rows: readonly Row[]): readonly Row[] {
    if (body.header !== undefined && !isAfterGap && !rows.some(isBlank)) return rows;
    return rows.filter(isData);
  }

  function isData(row: Row): boolean {
    if (isSepLineDue) {
      isSepLineDue = false;
      return false;
    }
    if (isBlank(row)) {
      body.blankRows += 1;
      isAfterGap = true;
      return false;
    }
    if (isAfterGap) row.isAfterGap = true;
    isAfterGap = false;
    if (body.header !== undefined) return true;
    body.header = row;
    return false;
  }

  return body;
}

function isBlank({ cells }: Row): boolean {
  const [first = ''] = cells;
  // The first character of nearly every row shows that it is not blank.
  return !(first > '!') && cells.every((cell) => cell.trim() === '');
}
