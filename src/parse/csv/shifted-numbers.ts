import { LIMITS } from '../../order/limits.ts';
import { textFault, trimBlanks, visibleText } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import type { Row } from './row-parser.ts';

/**
 * Numbers that faulty rows may belong to, with what is wrong with the row: where fields are missing or too many, the
 * order number may be next to its column; where it has hidden characters, it looks like another. An order with such a
 * number may lack that row.
 */
export type ShiftedNumbers = { numbers: ReadonlyMap<string, string>; look(cells: readonly string[], row: Row): void };

export function watchShifted({ header, at }: Columns): ShiftedNumbers {
  const column = at.purchaseOrderNumber;
  const numbers = new Map<string, string>();
  /** The row before, if it has too few fields: a line break may have split it. */
  let short: readonly string[] | undefined;
  let lastCell = '';

  function add(text: string, reason: string, line: number): void {
    if (text !== '' && !numbers.has(text)) numbers.set(text, reason);
    if (numbers.size > LIMITS.shiftedNumbers) throw tooMany(line);
  }

  function lookBeside(cells: readonly string[], { line }: Row): void {
    const shift = cells.length - header.length;
    const beside =
      shift > 0 ? cells.slice(column + 1, column + 1 + shift) : cells.slice(Math.max(0, column + shift), column);
    const reason = `line ${line} has ${cells.length} instead of ${header.length} fields`;
    for (const cell of beside) add(trimBlanks(cell), reason, line);
  }

  function lookAt(cell: string, { line }: Row): void {
    if (cell === lastCell) return;
    lastCell = cell;
    const number = trimBlanks(cell);
    const fault = textFault(number);
    if (fault === undefined || fault === 'missing') return;
    const visible = visibleText(number);
    if (visible !== number) add(visible, `the order number on line ${line} cannot be used`, line);
  }

  /** The number of two rows that are one row with a line break in it. */
  function lookJoined(before: readonly string[], cells: readonly string[], { line }: Row): void {
    const joined = [...before.slice(0, -1), `${before.at(-1) ?? ''}${cells[0] ?? ''}`, ...cells.slice(1)];
    if (joined.length !== header.length) return;
    add(trimBlanks(joined[column] ?? ''), `line ${line - 1} and line ${line} look like one row`, line);
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
      else {
        lookAt(cells[column] ?? '', row);
        lookMoved(cells, row);
      }
    },
  };
}

function tooMany(line: number) {
  const message = `Up to line ${line}, too many rows differ from the header in their number of fields.`;
  return unreadable('rows', message, { line }, 'Check the delimiter, and put fields that contain it in quotes.');
}
