import type { Row } from './row-parser.ts';

/** Tells a table's rows from its header and from rows that hold nothing. */
export type TableBody = {
  /** The first row that is not blank; known once it was met. */
  header: Row | undefined;
  /** Rows skipped because all their cells are blank. */
  blankRows: number;
  /** The rows that hold data, of the next rows of the file. */
  take(rows: readonly Row[]): readonly Row[];
};

export function createTableBody(hasSepLine: boolean): TableBody {
  let isSepLineDue = hasSepLine;
  const body: TableBody = { header: undefined, blankRows: 0, take };

  function take(rows: readonly Row[]): readonly Row[] {
    if (body.header !== undefined && !rows.some(isBlank)) return rows;
    return rows.filter(isData);
  }

  function isData(row: Row): boolean {
    if (isSepLineDue) {
      isSepLineDue = false;
      return false;
    }
    if (isBlank(row)) {
      body.blankRows += 1;
      return false;
    }
    if (body.header !== undefined) return true;
    body.header = row;
    return false;
  }

  return body;
}

function isBlank({ cells }: Row): boolean {
  const [first = ''] = cells;
  // Nearly every row is told from a blank one by its first character.
  return !(first > '!') && cells.every((cell) => cell.trim() === '');
}
