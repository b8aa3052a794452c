import { cutText, textWidth } from '../../core/format.ts';
import type { Tone } from '../../views/view.ts';
import { type Format, printable } from './print.ts';

export type Column<Row> = {
  title: string;
  of: (row: Row) => string | number;
  right?: boolean;
  /** Where text may be cut on a narrow terminal; without it the column keeps its width. */
  cut?: 'start' | 'end';
  /** The preferred width of a column that may be cut. */
  wish?: number;
  /** Columns with a number are omitted, lowest number first, when other columns do not get their preferred width. */
  leaves?: number;
  tone?: (row: Row) => Tone;
};

type Columns<Row> = readonly Column<Row>[];

/** Characters between two columns. */
const GAP = 2;
/** The smallest width of a cut column. */
const LEAST = 6;

/**
 * Rows below their titles, fitted into `columns` characters: optional columns are omitted, the others cut. If
 * `columns` is undefined, nothing is cut. Hidden characters are escaped. Empty if there are no rows.
 */
export function table<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  format: Format,
): string {
  if (rows.length === 0) return '';
  const columns = chosen(rows, all, format.columns);
  const cells = cellsOf(rows, columns);
  const widths = fitted(columns, widthsOf(columns, cells), format.columns);
  const titleOf = ({ title }: Column<Row>) => title;
  const head = line(columns, widths, titleOf, () => 'quiet', format);
  const body = rows.map((row, i) =>
    line(
      columns,
      widths,
      (_, at) => cells[i]?.[at] ?? '',
      ({ tone }) => tone?.(row) ?? 'plain',
      format,
    ),
  );
  return [head, ...body].join('');
}

function cellsOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[][] {
  return rows.map((row) => columns.map(({ of }) => printable(String(of(row)))));
}

/** Omits optional columns until those that may be cut get their preferred width. */
function chosen<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  places = Number.POSITIVE_INFINITY,
): Columns<Row> {
  const natural = widthsOf(columns, cellsOf(rows, columns));
  const needed = columns.reduce((sum, { cut, wish = LEAST }, at) => {
    return (
      sum + GAP + Math.min(natural[at] ?? 0, cut === undefined ? Number.POSITIVE_INFINITY : wish)
    );
  }, -GAP);
  const [first] = columns
    .flatMap(({ leaves }) => (leaves === undefined ? [] : [leaves]))
    .sort((a, b) => a - b);
  if (needed <= places || first === undefined) return columns;
  return chosen(
    rows,
    columns.filter(({ leaves }) => leaves !== first),
    places,
  );
}

function widthsOf<Row>(columns: readonly Column<Row>[], cells: readonly string[][]): number[] {
  return columns.map(({ title }, at) =>
    cells.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), title.length),
  );
}

/**
 * Narrows the widest column that may be cut until all fit or all have the smallest width. No column gets narrower than
 * its preferred width while another is still wider than its own.
 */
function fitted<Row>(
  columns: Columns<Row>,
  natural: readonly number[],
  places: number | undefined,
): number[] {
  const widths = [...natural];
  if (places === undefined) return widths;
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1) - places;
  while (excess > 0) {
    const least = (column: Column<Row>) => Math.max(column.wish ?? LEAST, LEAST);
    const above = widestToCut(columns, widths, least);
    const at = above >= 0 ? above : widestToCut(columns, widths, () => LEAST);
    const width = widths[at];
    if (at < 0 || width === undefined) break;
    widths[at] = width - 1;
    excess -= 1;
  }
  return widths;
}

function widestToCut<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  least: (column: Column<Row>) => number,
): number {
  let widest = -1;
  for (const [at, column] of columns.entries()) {
    const width = widths[at] ?? 0;
    if (column.cut !== undefined && width > least(column) && width > (widths[widest] ?? 0))
      widest = at;
  }
  return widest;
}

function line<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  text: (column: Column<Row>, at: number) => string,
  tone: (column: Column<Row>) => Tone,
  { paint, columns: places }: Format,
): string {
  let left = places ?? Number.POSITIVE_INFINITY;
  const cells = columns.map((column, at) => {
    const width = Math.min(widths[at] ?? 0, left);
    left -= width + GAP;
    if (width <= 0) return '';
    const cut = cutText(text(column, at), width, column.cut ?? 'end');
    const blank = ' '.repeat(width - textWidth(cut));
    return column.right ? blank + paint(tone(column), cut) : paint(tone(column), cut) + blank;
  });
  return `${cells
    .filter((cell) => cell !== '')
    .join(' '.repeat(GAP))
    .trimEnd()}\n`;
}
