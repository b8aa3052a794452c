import type { Mapping } from '../../config/config.ts';
import { type Columns, ownCells, resolveColumns } from '../columns.ts';
import { watchDecimals } from '../decimal-evidence.ts';
import type { TableReading } from '../inspection.ts';
import { unreadable } from '../unreadable.ts';
import { type Delimiter, findDelimiter } from './delimiter.ts';
import { createRuns, type Runs } from './number-runs.ts';
import { createRowParser, type Row } from './row-parser.ts';
import { type ShiftedNumbers, watchShifted } from './shifted-numbers.ts';
import { createTableBody } from './table-body.ts';

/** What the first pass learns of a table. `reading` is absent when there is not even a header. */
export type InspectedTable = {
  records: number;
  reading?: TableReading;
  delimiter: string;
  newline?: '\n' | '\r\n' | '\r';
  decimal?: '.' | ',';
  warnings: string[];
};

const LF = 10;
const CR = 13;
const ALL_NEWLINES = ['\r\n', '\n', '\r'] as const;

/** Reads a table to its end: every quote matches, the header is good; finds numbers whose rows stand apart. */
export async function inspectTable(
  content: AsyncIterable<Buffer>,
  start: string,
  bytes: number,
  mapping: Mapping,
): Promise<InspectedTable> {
  const dialect = findDelimiter(start, mapping);
  const parser = createRowParser({ delimiter: dialect.delimiter, newlines: ALL_NEWLINES });
  const eyes = openEyes(dialect.hasSepLine, bytes, mapping);
  let hasCr = false;
  let lastByte = LF;

  for await (const chunk of content) {
    hasCr ||= chunk.includes(CR);
    lastByte = chunk.at(-1) ?? lastByte;
    eyes.look(await parser.write(chunk));
  }
  eyes.look(await parser.end());
  if (lastByte !== LF && lastByte !== CR) eyes.requireWholeEnd(lastByte);

  const { reading, ...found } = eyes.found(dialect, hasCr ? ALL_NEWLINES : ['\n']);
  return { ...found, ...(reading && { reading }), delimiter: dialect.delimiter, ...newlineOf(start) };
}

/** The same of a sheet's rows, whatever the file's size. */
export async function inspectRows(rows: AsyncIterable<readonly Row[]>, bytes: number, mapping: Mapping) {
  const eyes = openEyes(false, bytes, mapping);
  for await (const page of rows) eyes.look(page);
  return eyes.found({ delimiter: ',', hasSepLine: false }, ['\n']);
}

/** Looks at the rows of a table one after the other. */
function openEyes(hasSepLine: boolean, bytes: number, mapping: Mapping) {
  const body = createTableBody(hasSepLine);
  const decimals = watchDecimals();
  let seen: Seen | undefined;
  let last: Row | undefined;

  function look(rows: readonly Row[]): void {
    last = rows.at(-1) ?? last;
    const data = body.take(rows);
    if (body.header === undefined) return;
    seen ??= openSeen(resolveColumns(body.header.cells, body.header.line, mapping), rowsIn(bytes, data));
    const { runs, shifted } = seen;
    const { quantity } = runs.columns.at;
    for (const row of data) {
      const cells = ownCells(row.cells, runs.columns);
      runs.add(cells, row);
      shifted.look(cells, row);
      if (quantity !== undefined) decimals.look(cells[quantity] ?? '', row.line);
    }
  }

  function found(dialect: Delimiter, newlines: readonly string[]) {
    const sign = mapping.decimal === 'auto' ? decimals.sign() : mapping.decimal;
    return {
      records: seen?.runs.records ?? 0,
      reading: seen && readingOf(dialect, newlines, seen),
      ...(sign !== undefined && { decimal: sign }),
      warnings: [...blankWarnings(body.blankRows), ...(mapping.decimal === 'auto' ? decimals.warnings() : [])],
    };
  }

  /** The content does not end with a line end: its last row must be as wide as its header all the same. */
  function requireWholeEnd(lastByte: number): void {
    const width = body.header?.cells.length ?? 0;
    const isBlank = last?.cells.every((cell) => cell.trim() === '') === true;
    if (last !== undefined && lastByte === 0) throw cutOff(last, 'the file ends in zeros');
    if (last === undefined || isBlank || last.cells.length >= width) return;
    throw cutOff(last, `its last row has ${last.cells.length} instead of ${width} fields and no line end`);
  }

  return { look, found, requireWholeEnd };
}

function cutOff({ line }: Row, how: string) {
  const message = `The file is cut off on line ${line}: ${how}.`;
  return unreadable('cut-off', message, { line }, 'Drop the whole file once more; if it is whole, end its last line.');
}

type Seen = { runs: Runs; shifted: ShiftedNumbers };

function openSeen(columns: Columns, expected: number): Seen {
  return { runs: createRuns(columns, expected), shifted: watchShifted(columns) };
}

/** How many rows a table of `bytes` bytes has if they are as long as its first ones. */
function rowsIn(bytes: number, first: readonly Row[]): number {
  const length = first.reduce((sum, row) => sum + row.bytes, 0);
  return first.length === 0 ? bytes / LEAST_ROW : Math.max(first.length, (bytes / length) * first.length);
}

/** Bytes of a row that is hardly ever undercut. */
const LEAST_ROW = 8;

function readingOf(dialect: Delimiter, newlines: readonly string[], { runs, shifted }: Seen): TableReading {
  const { columns } = runs;
  return { kind: 'table', ...dialect, newlines, columns, apart: runs.apart(), shifted: shifted.numbers };
}

function blankWarnings(rows: number): string[] {
  if (rows === 0) return [];
  return [rows === 1 ? 'One row without any value was skipped.' : `${rows} rows without any value were skipped.`];
}

function newlineOf(start: string): { newline?: '\n' | '\r\n' | '\r' } {
  const newline = ALL_NEWLINES.map((text) => ({ text, at: start.indexOf(text) }))
    .filter(({ at }) => at >= 0)
    .reduce<{ text: '\n' | '\r\n' | '\r'; at: number } | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined);
  return newline === undefined ? {} : { newline: newline.text };
}
