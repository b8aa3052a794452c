import { LIMITS } from '../limits.ts';
import type { Row } from '../record.ts';
import { tooLarge, unreadable } from '../unreadable.ts';

/** Splits text into rows. */
export type RowParser = {
  /** The rows that end within this piece. */
  write(piece: string): Row[];
  /** The rest at the end of the content, and what is wrong with the row behind it. */
  end(): { rows: Row[]; fault: Error | undefined };
};

export type Dialect = {
  delimiter: string;
  quote: '"' | null;
  newlines: readonly string[];
  isWritten: boolean;
};

const QUOTE = '"';
const LINE_END = /\r\n|\n|\r/g;

/** A row as it was split; `next`: where the one below begins. `openIn`: its quoted field that does not end. */
type Split =
  | { cells: string[]; to: number; next: number; strayAt?: number | undefined }
  | { openIn: number };

/**
 * A parser for one table (RFC 4180). Empty lines are no rows; a quote within a field, or behind one, is an ordinary character.
 * Not a library: one that looks at each byte takes ten times as long as the engine's own search, and a file is read twice.
 * PoSyncError `unreadable-incomplete` for a quote that is never closed, `unreadable-too-large` for a row beyond the
 * limits, each with the line where the row begins.
 */
export function createRowParser({ delimiter, quote, newlines, isWritten }: Dialect): RowParser {
  const findEnd = newlines.length === 1 ? findText(newlines[0] ?? '\n') : findAny(newlines);
  let text = '';
  let isLast = false;
  /** Where the next row begins, and its line. */
  let at = 0;
  let line = 1;
  /** Where the next ones are from `at` on; at the end of the text if there are none. */
  let marks = { quote: -1, delimiter: -1 };
  let end = { from: -1, to: -1 };

  function next(mark: keyof typeof marks, of: string, from: number): number {
    if (marks[mark] < from) {
      const found = text.indexOf(of, from);
      marks[mark] = found < 0 ? text.length : found;
    }
    return marks[mark];
  }

  /** The next line end; at the end of the text if there is none. */
  function nextEnd(from: number) {
    if (end.from < from) end = findEnd(text, from) ?? { from: text.length, to: text.length };
    return end;
  }

  /** Whether what is at a place may look different with more text: half a line end, or none yet. */
  function isUnsure(place: { from: number; to: number }): boolean {
    if (isLast) return false;
    return place.to === text.length && (place.from === place.to || text.endsWith('\r'));
  }

  /** The next row; undefined when the text has not all of it. */
  function split(): Split | undefined {
    const { from, to } = nextEnd(at);
    const hasQuote = quote !== null && next('quote', QUOTE, at) < from;
    if (hasQuote) return splitQuoted();
    if (isUnsure({ from, to })) return undefined;
    return { cells: text.slice(at, from).split(delimiter), to: from, next: to };
  }

  function splitQuoted(): Split | undefined {
    const cells: string[] = [];
    let strayAt: number | undefined;
    let from = at;
    for (;;) {
      const field = text.startsWith(QUOTE, from) ? quotedField(from) : { value: '', to: from };
      if (field === undefined) return isLast ? { openIn: cells.length + 1 } : undefined;
      const lineEnd = nextEnd(field.to);
      if (isUnsure(lineEnd) && lineEnd.from <= next('delimiter', delimiter, field.to))
        return undefined;
      const to = Math.min(next('delimiter', delimiter, field.to), lineEnd.from);
      const behind = text.slice(field.to, to);
      const isOdd = field.to > from && behind !== '';
      if (isOdd) strayAt ??= cells.length;
      cells.push(isOdd ? `"${field.value}"${behind}` : field.value + behind);
      if (to === lineEnd.from) return { cells, to, next: lineEnd.to, strayAt };
      from = to + delimiter.length;
    }
  }

  /** The text of a quoted field, and where its quotes end; undefined when the text has not all of it. */
  function quotedField(start: number): { value: string; to: number } | undefined {
    let value = '';
    for (let from = start + 1; ; ) {
      const close = text.indexOf(QUOTE, from);
      if (close < 0 || (close + 1 === text.length && !isLast)) return undefined;
      value += text.slice(from, close);
      if (!text.startsWith(QUOTE, close + 1)) return { value, to: close + 1 };
      value += QUOTE;
      from = close + 2;
    }
  }

  /** Whether the last row has no line end, or half of one. */
  function isHalfEnd(to: number): boolean {
    return to === text.length || (newlines.includes('\r\n') && text.endsWith('\r'));
  }

  function taken(): { rows: Row[]; fault: Error | undefined } {
    marks = { quote: -1, delimiter: -1 };
    end = { from: -1, to: -1 };
    const rows: Row[] = [];
    let fault: Error | undefined;
    while (at < text.length && fault === undefined) {
      const found = split();
      if (found === undefined) break;
      if ('openIn' in found) fault = notClosed(found.openIn, line);
      else {
        const { cells, to, strayAt } = found;
        fault = tooLargeRow(cells, to - at, line);
        const row: Row = { kind: 'row', line, cells };
        if (strayAt !== undefined) row.strayAt = strayAt;
        if (isWritten) row.written = text.slice(at, to);
        if (isLast && isHalfEnd(to)) row.isOpen = true;
        if (to > at) rows.push(row);
        line += 1 + (marks.quote >= at && marks.quote < to ? lineEndsIn(cells) : 0);
        at = found.next;
      }
    }
    if (fault === undefined && text.length - at > LIMITS.record) fault = tooLong(line);
    return { rows, fault };
  }

  return {
    write(piece) {
      text = text.slice(at) + piece;
      at = 0;
      const { rows, fault } = taken();
      if (fault !== undefined) throw fault;
      return rows;
    },
    end() {
      isLast = true;
      return taken();
    },
  };
}

type FindEnd = (text: string, from: number) => { from: number; to: number } | undefined;

function findText(newline: string): FindEnd {
  return (text, from) => {
    const at = text.indexOf(newline, from);
    return at < 0 ? undefined : { from: at, to: at + newline.length };
  };
}

function findAny(newlines: readonly string[]): FindEnd {
  const pattern = new RegExp(newlines.join('|'), 'g');
  return (text, from) => {
    pattern.lastIndex = from;
    const found = pattern.exec(text);
    return found === null ? undefined : { from: found.index, to: pattern.lastIndex };
  };
}

function tooLargeRow(cells: readonly string[], length: number, line: number) {
  if (length > LIMITS.record) return tooLong(line);
  if (cells.length <= LIMITS.cells) return undefined;
  return tooLarge(`The row on line ${line}`, LIMITS.cells, 'cells', line);
}

function tooLong(line: number) {
  return tooLarge(`The row on line ${line}`, LIMITS.record, 'bytes', line);
}

function lineEndsIn(cells: readonly string[]): number {
  return cells.reduce((count, cell) => count + (cell.match(LINE_END)?.length ?? 0), 0);
}

function notClosed(column: number, line: number): Error {
  const lacks = `the quote that closes field ${column} of line ${line}`;
  return unreadable({ code: 'incomplete', of: 'quote', lacks, line, column });
}
