import { LIMITS } from '../../order/limits.ts';
import { trimBlanks } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import type { Row } from './row-parser.ts';

/**
 * Numbers that rows of the wrong width may belong to: where fields are missing or too many, the order number may stand
 * beside its column. An order with such a number may lack that row. Each with the row's line.
 */
export type ShiftedNumbers = { numbers: ReadonlyMap<string, number>; look(cells: readonly string[], row: Row): void };

export function watchShifted({ header, at }: Columns): ShiftedNumbers {
  const column = at.purchaseOrderNumber;
  const numbers = new Map<string, number>();

  function look(cells: readonly string[], { line }: Row): void {
    const shift = cells.length - header.length;
    const beside =
      shift > 0 ? cells.slice(column + 1, column + 1 + shift) : cells.slice(Math.max(0, column + shift), column);
    for (const cell of beside) {
      const text = trimBlanks(cell);
      if (text !== '' && !numbers.has(text)) numbers.set(text, line);
    }
    if (numbers.size > LIMITS.shiftedNumbers) throw tooMany(line);
  }

  return {
    numbers,
    look(cells, row) {
      if (cells.length !== header.length) look(cells, row);
    },
  };
}

function tooMany(line: number) {
  const message = `Up to line ${line}, too many rows have another number of fields than the header.`;
  return unreadable('rows', message, { line }, 'Check the delimiter, and put fields that hold it in quotes.');
}
