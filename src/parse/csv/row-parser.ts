import { CsvError, Parser } from 'csv-parse';
import { LIMITS } from '../limits.ts';
import { trimmed } from '../names.ts';
import type { Row } from '../record.ts';
import { tooLarge, unreadable } from '../unreadable.ts';

/** Splits UTF-8 into rows. */
export type RowParser = {
  /** The rows that end within this chunk. */
  write(chunk: Buffer): Promise<Row[]>;
  /** The rest at the end of the content, and what is wrong with the row behind it. */
  end(): Promise<{ rows: Row[]; fault: Error | undefined }>;
};

export type Dialect = {
  delimiter: string;
  quote: '"' | null;
  newlines: readonly string[];
  isWritten: boolean;
};

const LINE_END = /\r\n|\n|\r/g;

/**
 * A parser for one table. Empty lines are no rows; a quote within a field, or behind one, is an ordinary character.
 * PoSyncError `unreadable-incomplete` for a quote that is never closed, `unreadable-too-large` for a row beyond the
 * limits, each with the line where the row begins.
 */
export function createRowParser(dialect: Dialect): RowParser {
  const parser = new CollectingParser(dialect);
  // The callbacks of write and end report errors; a listener keeps Node from throwing them as well.
  parser.on('error', () => undefined);
  let unparsed = 0;

  /** The rows so far. Throws when one of them, or the row being read, is beyond the limit. */
  function taken(): Row[] {
    const { rows, hasMoved } = parser.takeRows();
    if (hasMoved) unparsed = 0;
    if (parser.fault !== undefined) throw parser.fault;
    if (unparsed > LIMITS.record) throw tooLong(parser.nextLine);
    return rows;
  }

  return {
    async write(chunk) {
      unparsed += chunk.length;
      parser.keep(chunk);
      await new Promise<void>((resolve, reject) => {
        parser.write(chunk, (error) => (error ? reject(faultOf(error, parser)) : resolve()));
      });
      return taken();
    },
    async end() {
      const fault = await new Promise<Error | undefined>((resolve) => {
        // Node's types leave out that the callback of end gets the error of the last step.
        parser.end((error?: Error | null) => resolve(error ? faultOf(error, parser) : undefined));
      });
      return { rows: taken(), fault };
    },
  };
}

/** csv-parse, with its rows kept in an array: its object stream costs more than its parsing. */
class CollectingParser extends Parser {
  /** Where the next row begins. */
  nextLine = 1;
  /** For the first row beyond a limit. csv-parse has a limit too, but checks it for every byte. */
  fault: Error | undefined;
  #rows: Row[] = [];
  #emptyLines = 0;
  #emptyLinesTaken = 0;
  #countedLines = 1;
  #bytes = 0;
  readonly #isWritten: boolean;
  /** The content from byte `#keptFrom` on, for rows as they are written. */
  #kept = Buffer.alloc(0);
  #keptFrom = 0;

  constructor({ delimiter, quote, newlines, isWritten }: Dialect) {
    super({
      delimiter,
      quote,
      record_delimiter: [...newlines],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
    this.#isWritten = isWritten;
  }

  /** Before a chunk is parsed. */
  keep(chunk: Buffer): void {
    if (!this.#isWritten) return;
    this.#kept = Buffer.concat([this.#kept.subarray(this.#bytes - this.#keptFrom), chunk]);
    this.#keptFrom = this.#bytes;
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

    if (size > LIMITS.record && lettersIn(cells) > LIMITS.record) this.fault ??= tooLong(line);
    if (cells.length > LIMITS.cells)
      this.fault ??= tooLarge(`The row on line ${line}`, LIMITS.cells, 'cells', line);
    const row: Row = { kind: 'row', line, cells };
    if (this.#isWritten) row.written = this.#textTo(bytes);
    this.#rows.push(row);

    this.#bytes = bytes;
    this.#emptyLines = emptyLines;
    this.#countedLines = lines;
    this.nextLine = line + 1 + (isOneLine ? 0 : lineEndsIn(cells));
    return true;
  }

  /** What was written since the last row, without line ends around it. */
  #textTo(byte: number): string {
    const from = this.#bytes - this.#keptFrom;
    return trimmed(this.#kept.toString('utf8', from, byte - this.#keptFrom), '\r\n');
  }
}

function tooLong(line: number) {
  return tooLarge(`The row on line ${line}`, LIMITS.record, 'bytes', line);
}

function lettersIn(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + cell.length + 1, 0);
}

function lineEndsIn(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + (cell.match(LINE_END)?.length ?? 0), 0);
}

function faultOf(error: Error, { nextLine }: CollectingParser): Error {
  if (!(error instanceof CsvError) || error.code !== 'CSV_QUOTE_NOT_CLOSED') return error;
  const column = typeof error['index'] === 'number' ? error['index'] + 1 : 1;
  const lacks = `the quote that closes field ${column} of line ${nextLine}`;
  return unreadable({ code: 'incomplete', of: 'quote', lacks, line: nextLine, column });
}
