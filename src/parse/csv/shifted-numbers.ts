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

  return {
    numbers,
    look(cells, row) {
      if (cells.length !== header.length) lookBeside(cells, row);
      else lookAt(cells[column] ?? '', row);
    },
  };
}

function tooMany(line: number) {
  const message = `Up to line ${line}, too many rows differ from the header in their number of fields.`;
  return unreadable('rows', message, { line }, 'Check the delimiter, and put fields that contain it in quotes.');
}
