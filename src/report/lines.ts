import { createReadStream } from 'node:fs';

export type Dialect = { delimiter: string; newline: string };

/** The dialect of po-sync's own tables, and of a fix file whose input has none (XLSX). */
export const PLAIN_DIALECT: Dialect = { delimiter: ',', newline: '\n' };

/**
 * Texts that spreadsheets convert to numbers or dates: `0010`, more digits than a double holds, `12E5`, `1-2`.
 * Quotes keep them as text in programs that can be set to respect quotes, and change nothing for other readers.
 */
const FRAGILE = /^(?:0\d+|\d{16,}|\d+[eE]\d+|\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?)$/;

/** Some readers end a row at any line break, and a byte order mark in the first cell looks like the file's own. */
const MISLEADING = /[\r\n]|^\ufeff/;

/** One table row with its line end, quoted where the dialect or a spreadsheet needs it. */
export function csvLine(cells: readonly string[], dialect: Dialect): string {
  const { delimiter, newline } = dialect;
  return cells.map((cell) => cellText(cell, delimiter)).join(delimiter) + newline;
}

function cellText(cell: string, delimiter: string): string {
  if (cell.includes('"')) return `"${cell.replaceAll('"', '""')}"`;
  return cell.includes(delimiter) || MISLEADING.test(cell) || FRAGILE.test(cell)
    ? `"${cell}"`
    : cell;
}

/** Reads a file's text in pieces, including its byte order mark; from the byte `start`, where a line must begin. */
export async function* readText(path: string, encoding: string, start = 0): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  for await (const chunk of createReadStream(path, { start }))
    yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/**
 * Splits text into lines, each with its end (LF, CRLF or CR). With `quotes`, a line break between double quotes does
 * not end a line, as in CSV with doubled quotes. Unlike Node's readline it does not split at U+2028.
 */
export async function* splitLines(
  chunks: AsyncIterable<string>,
  quotes: boolean,
): AsyncGenerator<string> {
  const marks = quotes ? /["\r\n]/g : /[\r\n]/g;
  let line = '';
  let isQuoted = false;
  for await (const chunk of chunks) {
    const text = line + chunk;
    let start = 0;
    marks.lastIndex = line.length;
    // A CR at the end of a chunk may be the first half of a CRLF, so it is checked again with the next chunk.
    if (line.endsWith('\r') && !isQuoted) marks.lastIndex -= 1;
    for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
      if (mark[0] === '"') isQuoted = !isQuoted;
      else if (!isQuoted && !(mark[0] === '\r' && mark.index === text.length - 1)) {
        if (mark[0] === '\r' && text[mark.index + 1] === '\n') marks.lastIndex += 1;
        yield text.slice(start, marks.lastIndex);
        start = marks.lastIndex;
      }
    }
    line = text.slice(start);
  }
  if (line !== '') yield line;
}

/** Collects items into pages of `size`; the last page may be shorter. */
export async function* pages<T>(
  items: AsyncIterable<T> | Iterable<T>,
  size: number,
): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** The cells of a line that `csvLine` wrote, which may end with its line end. */
export function splitCells(line: string, delimiter: string): string[] {
  const text = line.replace(/\r\n$|[\r\n]$/, '');
  const cells: string[] = [];
  for (let start = 0; start <= text.length; ) {
    const [cell, end] =
      text[start] === '"' ? quotedCell(text, start) : plainCell(text, start, delimiter);
    cells.push(cell);
    start = end + delimiter.length;
  }
  return cells;
}

function plainCell(text: string, start: number, delimiter: string): [cell: string, end: number] {
  const at = text.indexOf(delimiter, start);
  const end = at === -1 ? text.length : at;
  return [text.slice(start, end), end];
}

/** A cell in quotes, with doubled quotes for its own. */
function quotedCell(text: string, start: number): [cell: string, end: number] {
  let end = start;
  do end = text.indexOf('"', end + 1) + 1;
  while (end > 0 && text[end] === '"');
  const last = end === 0 ? text.length + 1 : end;
  return [text.slice(start + 1, last - 1).replaceAll('""', '"'), last];
}
