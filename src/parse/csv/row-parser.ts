import { CsvError, Parser } from 'csv-parse';
import { LIMITS } from '../../order/limits.ts';
import { unreadable } from '../unreadable.ts';

/**
 * One row. `line` is where the row begins, 1-based in the file; `bytes` its length in UTF-8; `isOneLine`: it has no line
 * end within a field; `isAfterGap`: an empty line precedes it.
 */
export type Row = {
  line: number;
  cells: string[];
  bytes: number;
  isOneLine: boolean;
  isAfterGap: boolean;
};

/** Splits UTF-8 into rows. */
export type RowParser = {
  /** The rows that end within this chunk. */
  write(chunk: Buffer): Promise<Row[]>;
  /** The rest at the end of the content. */
  end(): Promise<Row[]>;
};

export type RowDialect = { delimiter: string; hasQuotes: boolean; newlines: readonly string[] };

const LINE_END = /\r\n|\n|\r/g;

/**
 * A parser for one table. Empty lines are no rows. PoSyncError `unreadable-quote` for quotes that do not match,
 * `unreadable-too-large` for a row beyond the limit, each with the line where the row begins.
 */
export function createRowParser(dialect: RowDialect): RowParser {
  const parser = new CollectingParser(dialect);
  // The callbacks of write and end report errors; a listener keeps Node from throwing them as well.
  parser.on('error', () => undefined);
  let unparsed = 0;

  /** The rows so far. Throws when one of them, or the row being read, is beyond the limit. */
  function taken(): Row[] {
    const { rows, hasMoved } = parser.takeRows();
    if (hasMoved) unparsed = 0;
    if (parser.tooLargeAt !== undefined) throw tooLarge(parser.tooLargeAt);
    if (unparsed > LIMITS.recordBytes) throw tooLarge(parser.nextLine);
    return rows;
  }

  return {
    async write(chunk) {
      unparsed += chunk.length;
      await new Promise<void>((resolve, reject) => {
        parser.write(chunk, (error) =>
          error ? reject(asUnreadable(error, parser.nextLine)) : resolve(),
        );
      });
      return taken();
    },
    async end() {
      await new Promise<void>((resolve, reject) => {
        // Node's types leave out that the callback of end gets the error of the last step.
        const ended = (error?: Error | null) =>
          error ? reject(asUnreadable(error, parser.nextLine)) : resolve();
        parser.end(ended);
      });
      return taken();
    },
  };
}

/** csv-parse, with its rows kept in an array: its object stream costs more than its parsing. */
class CollectingParser extends Parser {
  /** Where the next row begins. */
  nextLine = 1;
  /** Where the first row beyond the limit begins. csv-parse has a limit too, but checks it for every byte. */
  tooLargeAt: number | undefined;
  #rows: Row[] = [];
  #emptyLines = 0;
  #emptyLinesTaken = 0;
  #countedLines = 1;
  #bytes = 0;

  constructor({ delimiter, hasQuotes, newlines }: RowDialect) {
    super({
      delimiter,
      quote: hasQuotes ? '"' : null,
      record_delimiter: [...newlines],
      relax_column_count: true,
      skip_empty_lines: true,
    });
  }

  /** The rows since last time, and whether the parser advanced, even if only over empty lines. */
  takeRows(): { rows: Row[]; hasMoved: boolean } {
    const rows = this.#rows;
    const hasMoved = rows.length > 0 || this.info.empty_lines > this.#emptyLinesTaken;
    this.#rows = [];
    this.#emptyLinesTaken = this.info.empty_lines;
    return { rows, hasMoved };
  }

  override push(cells: string[] | null): boolean {
    if (cells === null) return true;
    const { empty_lines: emptyLines, lines, bytes } = this.info;
    const empty = emptyLines - this.#emptyLines;
    const line = this.nextLine + empty;
    // csv-parse counts a CRLF within quotes twice; its count only shows whether there is one.
    const isOneLine = lines - this.#countedLines <= empty + (this.nextLine === 1 ? 0 : 1);
    const size = bytes - this.#bytes;
    if (size > LIMITS.recordBytes && lettersIn(cells) > LIMITS.recordBytes)
      this.tooLargeAt ??= line;
    this.#rows.push({ line, cells, bytes: size, isOneLine, isAfterGap: empty > 0 });
    this.#bytes = bytes;
    this.#emptyLines = emptyLines;
    this.#countedLines = lines;
    this.nextLine = line + 1 + (isOneLine ? 0 : lineEndsIn(cells));
    return true;
  }
}

function lettersIn(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.length + 1, 0);
}

function lineEndsIn(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + (cell.match(LINE_END)?.length ?? 0), 0);
}

function asUnreadable(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error;
  const column = typeof error['index'] === 'number' ? error['index'] + 1 : 1;
  const facts = { line, column };
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
    const message = `The row that begins on line ${line} opens a quote in field ${column} that is never closed.`;
    return unreadable('quote', message, facts, 'Close the quote, or drop the complete file again.');
  }
  const message = `The row that begins on line ${line} has a quote in the middle of field ${column}.`;
  return unreadable(
    'quote',
    message,
    facts,
    'Put the field in quotes and double each quote within it: 5" pipe becomes "5"" pipe". If the file never quotes fields, ask your operator to set quote: none in the mapping.',
  );
}

function tooLarge(line: number) {
  const message = `The row that begins on line ${line} is longer than ${LIMITS.recordBytes} bytes.`;
  const facts = { line, limit: LIMITS.recordBytes };
  return unreadable(
    'too-large',
    message,
    facts,
    'Check for a quote that is never closed, or ask your operator to set quote: none in the mapping.',
  );
}

const ANY_LINE_END = /\r\n|\n|\r/;

/**
 * Refuses a row with a quoted field that contains what looks like further rows: a stray quote swallows everything up to
 * the next one. PoSyncError `unreadable-quote` with the lines where the field begins and ends.
 */
export function refuseSwallowedRows(
  { line, cells, isOneLine }: Row,
  width: number,
  delimiter: string,
): void {
  if (isOneLine || width < 2) return;
  let at = line;
  for (const [column, cell] of cells.entries()) {
    const pieces = cell.split(ANY_LINE_END);
    const end = at + pieces.length - 1;
    if (pieces.length > 1 && looksLikeRows(pieces, column, width, delimiter))
      throw swallowed(at, end, column + 1);
    at = end;
  }
}

/** Whether a line in between is as wide as a row, or the first and the last line complete a row each. */
function looksLikeRows(
  pieces: readonly string[],
  column: number,
  width: number,
  delimiter: string,
): boolean {
  const counts = pieces.map((piece) => piece.split(delimiter).length - 1);
  const [first = 0] = counts;
  const last = counts.at(-1) ?? 0;
  return (
    counts.some((count) => count >= width - 1) || (first === width - 1 - column && last === column)
  );
}

function swallowed(from: number, to: number, column: number) {
  const message = `A quote in field ${column} opens on line ${from} and closes on line ${to}; the text between looks like further rows.`;
  const remedy = `Remove the quotes if they are stray. If they are right, ask your operator to set in the mapping quote: none if the file never quotes fields, or quote: '"' if this is one field.`;
  return unreadable('quote', message, { line: from, column, end: to }, remedy);
}
