import { unreadable } from '../unreadable.ts';
import type { Row } from './row-parser.ts';

const LINE_END = /\r\n|\n|\r/;

/**
 * Refuses a row with a quoted field that contains what looks like further rows: a stray quote swallows everything up to
 * the next one. PoSyncError `unreadable-quote` with the lines where the field begins and ends.
 */
export function refuseSwallowedRows({ line, cells, isOneLine }: Row, width: number, delimiter: string): void {
  if (isOneLine || width < 2) return;
  let at = line;
  for (const [column, cell] of cells.entries()) {
    const pieces = cell.split(LINE_END);
    const end = at + pieces.length - 1;
    if (pieces.length > 1 && looksLikeRows(pieces, column, width, delimiter)) throw swallowed(at, end, column + 1);
    at = end;
  }
}

/** Whether a line in between is as wide as a row, or the first and the last line complete a row each. */
function looksLikeRows(pieces: readonly string[], column: number, width: number, delimiter: string): boolean {
  const counts = pieces.map((piece) => piece.split(delimiter).length - 1);
  const [first = 0] = counts;
  const last = counts.at(-1) ?? 0;
  return counts.some((count) => count >= width - 1) || (first === width - 1 - column && last === column);
}

function swallowed(from: number, to: number, column: number) {
  const message = `A quote in field ${column} opens on line ${from} and closes on line ${to}; the text between looks like further rows.`;
  const remedy = `Remove the quotes if they are stray. In the mapping, set quote: none if the file never quotes fields, or quote: '"' if this is one field.`;
  return unreadable('quote', message, { line: from, column, end: to }, remedy);
}
