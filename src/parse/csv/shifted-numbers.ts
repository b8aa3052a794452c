import { LIMITS } from '../../order/limits.ts';
import { plainLook } from '../../order/look-alike.ts';
import { escapeHidden, shorten, textFault, trimBlanks, visibleText } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import { partedCells } from './joined-or-cut.ts';
import type { Row } from './row-parser.ts';

/**
 * Numbers that faulty rows may belong to, with what is wrong with the row: where fields are missing or too many, the
 * order number may be next to its column; where it has hidden characters, it looks like another. An order with such a
 * number may lack that row.
 */
export type ShiftedNumbers = {
  numbers: ReadonlyMap<string, string>;
  look(cells: readonly string[], row: Row): void;
};

/** `holdsTwins`: numbers that were probably typed differently count as well. */
export function watchShifted({ header, at }: Columns, holdsTwins: boolean): ShiftedNumbers {
  const column = at.purchaseOrderNumber;
  const numbers = new Map<string, string>();
  /** The row before, if it has too few fields: a line break may have split it. */
  let short: readonly string[] | undefined;
  let lastCell = '';
  const twins = holdsTwins ? watchTwins(add) : undefined;

  function add(text: string, reason: string, line: number): void {
    if (text !== '' && !numbers.has(text)) numbers.set(text, reason);
    if (numbers.size > LIMITS.shiftedNumbers) throw tooMany(line);
  }

  function lookBeside(cells: readonly string[], { line }: Row): void {
    const beside = cellsBeside(column, cells, cells.length - header.length);
    const reason = `line ${line} has ${cells.length} instead of ${header.length} fields`;
    for (const cell of beside) add(trimBlanks(cell), reason, line);
    const parts = cells.length < header.length ? partedCells(cells) : [];
    if (parts.length === header.length) add(trimBlanks(parts[column] ?? ''), reason, line);
  }

  function lookAt(cell: string, { line }: Row): void {
    if (cell === lastCell) return;
    lastCell = cell;
    const number = trimBlanks(cell);
    twins?.look(number, line);
    const fault = textFault(number);
    if (fault === undefined || fault === 'missing') return;
    const visible = visibleText(number);
    if (visible !== number) add(visible, `the order number on line ${line} cannot be used`, line);
  }

  /** The number of two rows that are one row with a line break in it. */
  function lookJoined(before: readonly string[], cells: readonly string[], { line }: Row): void {
    const joined = joinedCells(before, cells);
    if (joined.length !== header.length) return;
    add(
      trimBlanks(joined[column] ?? ''),
      `line ${line - 1} and line ${line} look like one row`,
      line,
    );
  }

  /** A quantity that is not a number may be in the wrong column, and so may the order number. */
  function lookMoved(cells: readonly string[], { line }: Row): void {
    if (at.quantity === undefined || numbers.size >= LIMITS.shiftedNumbers / 2) return;
    const quantity = cells[at.quantity] ?? '';
    if ((quantity >= '0' && quantity < ':') || /^\s*[+-]?[\d.,]/.test(quantity)) return;
    const reason = `the quantity on line ${line} is not a number: its values may be in other columns`;
    for (const cell of cells) if (cell !== cells[column]) add(trimBlanks(cell), reason, line);
  }

  return {
    numbers,
    look(cells, row) {
      if (short) lookJoined(short, cells, row);
      short = cells.length < header.length ? cells : undefined;
      if (cells.length !== header.length) lookBeside(cells, row);
      else lookAt(cells[column] ?? '', row);
      if (cells.length === header.length) lookMoved(cells, row);
    },
  };
}

function cellsBeside(column: number, cells: readonly string[], shift: number): readonly string[] {
  return shift > 0
    ? cells.slice(column + 1, column + 1 + shift)
    : cells.slice(Math.max(0, column + shift), column);
}

function joinedCells(before: readonly string[], cells: readonly string[]): string[] {
  return [...before.slice(0, -1), `${before.at(-1) ?? ''}${cells[0] ?? ''}`, ...cells.slice(1)];
}

/** Numbers that are compared: a person's file has fewer, and a program's has no such differences. */
const MOST_TWINS = 20_000;
/** What begins a line that is commented out. Some shops write `#` before every number. */
const COMMENT = /^(?:#|\/\/|--)/;

/** Finds numbers that differ only as one number that was typed several times does, and lines that are commented out. */
export function watchTwins(add: (text: string, reason: string, line: number) => void) {
  const known = new Map<string, { number: string; line: number }>();
  const marked = new Map<string, number>();
  let hasPlain = false;

  function look(number: string, line: number): void {
    if (known.size >= MOST_TWINS || number === '') return;
    if (COMMENT.test(number)) marked.set(number, line);
    else hasPlain = true;
    if (hasPlain && marked.size > 0) holdMarked();
    const twin = typedForm(number);
    const first = known.get(twin);
    if (first === undefined) known.set(twin, { number, line });
    else if (first.number !== number) {
      add(first.number, differs(line, number, first.number), line);
      add(number, differs(first.line, first.number, number), line);
    }
  }

  function holdMarked(): void {
    for (const [number, line] of marked) {
      const reason = `line ${line} begins like a line that is commented out, and other lines do not,`;
      for (const one of [number, trimBlanks(number.replace(COMMENT, ''))]) add(one, reason, line);
    }
    marked.clear();
  }

  return { look };
}

function differs(line: number, number: string, from: string): string {
  const [shown, other] = [number, from].map((text) =>
    escapeHidden(JSON.stringify(shorten(text, 60))),
  );
  return `line ${line} has the order number ${shown}, which differs from ${other} only in case, spaces, separators, leading zeros, letters that look the same or a word such as copy,`;
}

/** Marks around a number that a person adds: `(PO-7)`, `PO-7*`, `Nr. 7`. */
const AROUND = /^(?:(?:no|nr|n[°º])\.? |[([{*'"#]+ ?)+|[)\]}*'".,;:!]+$/g;

/** What a person adds to a number that was there before: `PO-7 (copy)`, `PO-7 Rev. 2`. */
const ADDED =
  /(?<=\S)(?: |_|(?= ?\())\(?(?:copy|copie|kopie|rev\.? ?\d{1,2}|revised|neu|new|alt|old|korrektur|korrigiert|corrected|updated?|final|storno|storniert|cancell?ed)\)?$/i;

/**
 * A number without case, spaces, leading zeros and marks around it, in Latin letters, with one form of separators, and
 * letters between digits as the digits that they look like.
 */
function typedForm(number: string): string {
  return plainLook(number)
    .replace(ADDED, '')
    .toLowerCase()
    .replace(AROUND, '')
    .replace(/ /g, '')
    .replace(/(?<=\d)o(?=\d)/g, '0')
    .replace(/(?<=^|[\d\W_])[il](?=\d)|(?<=\d)[il](?=\d|$)/g, '1')
    .replace(/(?<=[a-z])[-_/.]+(?=\d)/g, '')
    .replace(/[-_/.]+/g, '-')
    .replace(/^0+(?=.)/, '');
}

function tooMany(line: number) {
  const message = `Up to line ${line}, too many rows differ from the header in their number of fields.`;
  return unreadable(
    'rows',
    message,
    { line },
    'Check the delimiter, and put fields that contain it in quotes.',
  );
}
