import { PoSyncError } from '../../core/errors.ts';
import { linesOf, newlineOf, newlinesIn } from '../lines.ts';
import { paged } from '../pages.ts';
import type { Row } from '../record.ts';
import type { Pass, Source } from '../source.ts';
import { createRowParser, type Dialect } from './row-parser.ts';

/** The rows that `head` shows. */
const HEAD_ROWS = 50;
/** A piece of the beginning: small, because most headers are within the first. */
const PIECE = 8 * 1024;

/** A complete pass over a table of text. */
export async function* readCsv(
  source: Source,
  pass: Pass,
  delimiter: string,
): AsyncGenerator<readonly Row[]> {
  const { widths } = source.declared;
  pass.newline = newlineOf(source.start);
  const pages = widths
    ? fixedRows(source, pass, widths)
    : delimitedRows(source.content(pass), dialectOf(source, delimiter));

  for await (const page of pages) {
    if (page.at(-1)?.isOpen === true) pass.isOpenEnded = true;
    yield page;
  }
}

/** The first rows of a table under this delimiter, as far as the beginning of the file shows them. */
export async function readHead(source: Source, delimiter: string): Promise<readonly Row[]> {
  const { widths } = source.declared;
  const start = Buffer.from(source.start);
  if (widths)
    return await firstOf(fixedRows({ ...source, content: () => once(start) }, {}, widths));
  return await firstOf(delimitedRows(piecesOf(start), dialectOf(source, delimiter)));
}

async function* once(start: Buffer) {
  yield start;
}

async function* piecesOf(start: Buffer) {
  for (let at = 0; at < start.length; at += PIECE) yield start.subarray(at, at + PIECE);
}

async function firstOf(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  try {
    for await (const page of pages) {
      rows.push(...page);
      if (rows.length >= HEAD_ROWS) break;
    }
  } catch (error) {
    // The beginning may end within a quote; a complete pass says what is wrong.
    if (!(error instanceof PoSyncError)) throw error;
  }
  return rows.slice(0, HEAD_ROWS);
}

function dialectOf({ start, declared }: Source, delimiter: string): Dialect {
  const kinds = newlinesIn(start);
  return {
    delimiter,
    quote: declared.quote === 'none' ? null : '"',
    newlines: kinds.length === 0 ? ['\r\n', '\n', '\r'] : kinds,
    isWritten: declared.isWritten,
  };
}

async function* delimitedRows(
  content: AsyncIterable<Buffer>,
  dialect: Dialect,
): AsyncGenerator<Row[]> {
  const parser = createRowParser(dialect);
  for await (const chunk of content) yield* paged(parser.write(chunk.toString()));
  const rest = parser.end();
  yield* paged(rest.rows);
  if (rest.fault !== undefined) throw rest.fault;
}

/** Lines cut at fixed places; what a line has behind the last one is one more cell. */
async function* fixedRows(
  source: Source,
  pass: Partial<Pass>,
  widths: readonly number[],
): AsyncGenerator<Row[]> {
  const { isWritten } = source.declared;
  const newline = newlineOf(source.start);
  for await (const lines of linesOf(source.content(pass), newline))
    yield* paged(
      lines.flatMap(({ line, text, isOpen }) => {
        if (text === '') return [];
        const cells = cutAt(text, widths);
        return [
          {
            kind: 'row',
            line,
            cells,
            ...(isWritten && { written: text }),
            ...(isOpen && { isOpen }),
          },
        ];
      }),
    );
}

function cutAt(text: string, widths: readonly number[]): string[] {
  // By character: a letter beyond the basic plane is two units of a string.
  const letters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const slice = (from: number, to?: number) => {
    const part = letters.slice(from, to);
    return typeof part === 'string' ? part : part.join('');
  };
  const cells: string[] = [];
  let at = 0;
  for (const width of widths) {
    if (at >= letters.length) return cells;
    cells.push(slice(at, at + width));
    at += width;
  }
  if (at < letters.length) cells.push(slice(at));
  return cells;
}
