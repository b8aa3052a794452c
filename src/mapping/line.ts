import type { OddCell, RawRecord, Row, Value } from '../parse/record.ts';

/** What a cell is besides its text: as in a workbook, a number of JSON (`exact`), or an object or list in place of a value. */
export type Mark = OddCell | { kind: 'exact' | 'structure' };

/** What cells of a line are, by their index. */
export type Marks = { readonly [at: number]: Mark | undefined };

/** A part of an order that is no row of a plain table: its cells are those of the declared columns, in their order. */
export type Part = {
  kind: 'part';
  line: number;
  cells: readonly string[];
  odd?: Marks;
  isOpen?: true;
  /** Of objects: the item, or the object itself, and where it is. */
  value?: Value;
  pointer?: string;
  record: RawRecord;
  /** The order's own record, which is no item. */
  isHead?: true;
  /** What is wrong with the place of the items, or with one item. */
  items?: 'none' | 'notAList' | 'notAnObject';
};

/** What becomes one item of an order. Rows of plain tables are taken as they are. */
export type Line = Row | Part;

/** The record of a line as it was read. */
export function recordOf(line: Line): RawRecord {
  return line.kind === 'part' ? line.record : line;
}

const BLANK_ENDS = /^[ \t\ufeff]+|[ \t\ufeff]+$/g;

/** A text without spaces, tabs and byte order marks at its ends. */
export function trimmed(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return (first > 32 && last > 32 && first !== 0xfeff && last !== 0xfeff) || text === ''
    ? text
    : text.replace(BLANK_ENDS, '');
}

/** The text of a cell; empty where the row has none, or the file has no such column. */
export function textAt(line: Line, at: number): string {
  const cell = line.cells[at];
  return cell === undefined ? '' : trimmed(cell);
}

/** What makes a cell no value that can be compared; undefined for all that can. */
export function notComparable(
  mark: Mark | undefined,
): 'struck' | 'error' | 'no-value' | 'structure' | undefined {
  if (mark === undefined) return undefined;
  if ('isStruck' in mark && mark.isStruck) return 'struck';
  return mark.kind === 'error' || mark.kind === 'no-value' || mark.kind === 'structure'
    ? mark.kind
    : undefined;
}
