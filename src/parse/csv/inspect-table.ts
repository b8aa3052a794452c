import type { Mapping } from '../../config/config.ts';
import { plainName } from '../../order/text.ts';
import { type Columns, defaultOf, FIELDS, resolveColumns } from '../columns.ts';
import { watchFixRows } from '../fix-rows.ts';
import type { TableReading } from '../inspection.ts';
import { type Originals, refuseLostNotes } from '../read-fix-file.ts';
import { emptyFile, refuseRenamed, unreadable } from '../unreadable.ts';
import { watchBeside } from './beside.ts';
import { type Delimiter, findDelimiter, watchDecimals } from './dialect.ts';
import { watchMoved } from './moved-cells.ts';
import { createRuns } from './number-runs.ts';
import { createOwnCells } from './own-cells.ts';
import { createRowParser, type Row, refuseSwallowedRows } from './row-parser.ts';
import { watchShifted } from './shifted-numbers.ts';
import { createTableBody, type TableBody } from './table-body.ts';
import { watchColumnNumbers } from './total-rows.ts';

/** What the first pass finds out about a table. */
export type InspectedTable = {
  records: number;
  orders: number | undefined;
  reading: TableReading;
  delimiter: string;
  newline?: '\n' | '\r\n' | '\r';
  decimal?: '.' | ',';
  warnings: string[];
};

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** DOS programs write it at the end of a text (Ctrl+Z). */
const END_MARK = 26;
const ALL_NEWLINES = ['\r\n', '\n', '\r'] as const;

/** Reads a table to its end: every quote matches, the header is good; finds numbers whose rows are not adjacent. */
export async function inspectTable(
  content: AsyncIterable<Buffer>,
  start: string,
  bytes: number,
  mapping: Mapping,
  originals?: Originals,
): Promise<InspectedTable> {
  const dialect = findDelimiter(start, mapping);
  const { delimiter } = dialect;
  const parser = createRowParser({
    delimiter,
    hasQuotes: mapping.quote !== 'none',
    newlines: ALL_NEWLINES,
  });
  const table = watchTable({ dialect, bytes, mapping, originals, isText: true });
  const { newline } = newlineOf(start);
  let hasCr = false;
  let lastByte = LF;

  for await (const chunk of content) {
    hasCr ||= chunk.includes(CR);
    lastByte = chunk.at(chunk.at(-1) === END_MARK ? -2 : -1) ?? lastByte;
    table.look(await parser.write(chunk));
  }
  table.look(await parser.end());
  const cutOffAt = table.lineCutOff(lastByte, newline);

  const { reading, ...found } = table.found(hasCr ? ALL_NEWLINES : ['\n']);
  const whole = { ...reading, ...(cutOffAt !== undefined && { cutOffAt }) };
  const isOpen =
    !table.hasLastRow() &&
    mapping.finalNewline === 'required' &&
    lastByte !== LF &&
    lastByte !== CR;
  const warnings = isOpen ? [NO_LINE_END, ...found.warnings] : found.warnings;
  return {
    ...found,
    warnings,
    reading: whole,
    delimiter,
    ...(newline !== undefined && { newline }),
  };
}

const NO_LINE_END =
  'The last line has no line end, so the file may be incomplete. For your operator: if its program never writes one, set finalNewline: optional in the mapping of the source.';

/** Does the same with a worksheet's rows, whatever the file's size. */
export async function inspectRows(
  rows: AsyncIterable<readonly Row[]>,
  bytes: number,
  mapping: Mapping,
  originals?: Originals,
) {
  const table = watchTable({
    dialect: { delimiter: ',', hasSepLine: false, extra: 0 },
    bytes,
    mapping,
    originals,
  });
  for await (const page of rows) table.look(page);
  return table.found(['\n']);
}

type Watched = {
  dialect: Delimiter;
  bytes: number;
  mapping: Mapping;
  originals: Originals | undefined;
  isText?: true;
};

/** Looks at the rows of a table one after the other. */
function watchTable({ dialect, bytes, mapping, originals, isText }: Watched) {
  const body = createTableBody(dialect, mapping);
  const decimals = watchDecimals(mapping.decimal);
  let data: ReturnType<typeof watchData> | undefined;
  let last: Row | undefined;

  function look(rows: readonly Row[]): void {
    last = rows.at(-1) ?? last;
    const next = body.take(rows);
    if (body.header === undefined) return;
    data ??= watchData(body.header, rowsIn(bytes, next), mapping, { originals, isText });
    const { quantity } = data.runs.columns.at;
    // Our own fix files quote correctly.
    const mayHaveStrayQuotes = mapping.quote === 'auto' && data.fixRows === undefined;
    for (const row of next) {
      if (mayHaveStrayQuotes) refuseSwallowedRows(row, body.header.cells.length, dialect.delimiter);
      const cells = data.look(row);
      if (quantity !== undefined) decimals.look(cells[quantity] ?? '', row.line);
    }
  }

  function found(newlines: readonly string[]) {
    body.end();
    look([]);
    const { runs, shifted, ownCells, fixRows, numbered, moved } = complete(data, body);
    const movedAt = moved?.rows();
    const otherSignAt = decimals.otherSignAt();
    const fixSummary = fixRows?.summary();
    const sign = decimals.sign();
    const reading: TableReading = {
      ...dialect,
      newlines,
      columns: runs.columns,
      apart: runs.apart(),
      shifted: shifted.numbers,
      hasQuotes: mapping.quote !== 'none',
      fillDown: mapping.fillDown,
      ...(originals && { originals }),
      ...(fixSummary && { fixSummary }),
      ...numbered.held(),
      ...(movedAt && movedAt.size > 0 && { movedAt }),
      ...(otherSignAt !== undefined && { otherSignAt }),
    };
    const sources = [body, decimals, ownCells, numbered];
    const warnings = [
      ...sources.flatMap((one) => one.warnings()),
      ...(fixSummary?.warnings ?? runs.warnings()),
    ];
    const counts = { records: runs.records, orders: runs.orders() };
    return { ...counts, reading, ...(sign !== undefined && { decimal: sign }), warnings };
  }

  /** The line of a last row whose last value is sent, but may be cut off. */
  function lineCutOff(lastByte: number, newline: string | undefined): number | undefined {
    body.end();
    if (body.lastRow.isThere() && lastByte !== 0) return undefined;
    requireCompleteEnd(body, last, lastByte, newline);
    if (mapping.finalNewline === 'optional' || data === undefined || last === body.header)
      return undefined;
    return ENDS.has(lastByte) || !isLastSent(data.runs.columns) ? undefined : last?.line;
  }

  return { look, found, lineCutOff, hasLastRow: body.lastRow.isThere };
}

function complete(data: ReturnType<typeof watchData> | undefined, { lastRow, header }: TableBody) {
  if (data === undefined) throw emptyFile();
  lastRow.require(header);
  return data;
}

/** A line end, or the quote that closes the last field. */
const ENDS = new Set([LF, CR, QUOTE]);

/** Whether the last column of the file is one that is sent. */
function isLastSent({ names, at, errorColumns }: Columns): boolean {
  return (
    !errorColumns.includes(names.length - 1) &&
    Object.values(at).includes(names.length - errorColumns.length - 1)
  );
}

/** The columns of a fix file, and behind them those that its originals have and that it came back without. */
function withMissing(
  columns: Columns,
  originals: Originals | undefined,
  mapping: Mapping,
): Columns {
  const { header, at } = columns;
  const [now, before] = [header.map(plainName), (originals?.header ?? []).map(plainName)];
  const count = (names: readonly string[], name: string) =>
    names.filter((one) => one === name).length;
  const missing = before.flatMap((name, from) => {
    const field = FIELDS.find((one) => originals?.at?.[one] === from);
    // A field may have got another of its names.
    const isHere =
      field === undefined ? count(now, name) >= count(before, name) : at[field] !== undefined;
    const otherwise = field === undefined ? '' : (defaultOf(field, mapping) ?? '');
    return name === '' || isHere
      ? []
      : [{ name: originals?.header?.[from] ?? '', field, from, otherwise }];
  });
  if (missing.length === 0) return columns;
  const sent = missing.find(({ field }) => field !== undefined)?.name;
  const isNew = (name: string) => !before.includes(plainName(name));
  if (sent !== undefined) refuseRenamed('column', sent, header.filter(isNew));
  const found = missing.flatMap(({ field }, index) =>
    field === undefined ? [] : [[field, header.length + index]],
  );
  const all = [...header, ...missing.map(({ name }) => name)];
  return { ...columns, header: all, at: { ...at, ...Object.fromEntries(found) }, missing };
}

type Given = { originals: Originals | undefined; isText: true | undefined };

function watchData(header: Row, expected: number, mapping: Mapping, { originals, isText }: Given) {
  const found = resolveColumns(header.cells, header.line, mapping, isText);
  const isFixFile = found.errorColumns.length > 0;
  const columns = isFixFile ? withMissing(found, originals, mapping) : found;
  if (!isFixFile) refuseLostNotes(originals);
  const runs = createRuns(columns, expected);
  const shifted = watchShifted(columns, mapping.otherReadings === 'hold' && !isFixFile);
  const ownCells = createOwnCells({
    columns,
    fillDown: mapping.fillDown,
    originals,
    summary: undefined,
  });
  const fixRows = isFixFile ? watchFixRows(columns, originals) : undefined;
  const numbered = watchColumnNumbers(columns, mapping);
  const beside = isFixFile ? undefined : watchBeside(columns, mapping);
  const moved = isFixFile ? undefined : watchMoved(columns, mapping);

  /** The row as it is meant. */
  function look(row: Row): readonly string[] {
    const cells = ownCells.cellsOf(row);
    fixRows?.look(row.cells, ownCells.fixOf(row), `line ${row.line}`);
    runs.add(cells, row);
    shifted.look(cells, row);
    numbered.look(cells, row);
    beside?.look(cells, row);
    moved?.look(cells, row.line);
    return cells;
  }

  return { look, runs, shifted, ownCells, fixRows, numbered, moved };
}

/** Content without a line end at its end must have a last row as wide as its header. */
function requireCompleteEnd(
  body: TableBody,
  last: Row | undefined,
  lastByte: number,
  newline?: string,
): void {
  if (last === undefined || lastByte === LF) return;
  if (lastByte === CR && newline === '\r\n') throw cutOff(last, 'its last line end is incomplete');
  if (lastByte === CR) return;
  const width = body.header?.cells.length ?? 0;
  if (lastByte === 0) throw cutOff(last, 'the file ends in zeros');
  if (last.cells.every((cell) => cell.trim() === '') || last.cells.length >= width) return;
  throw cutOff(
    last,
    `its last row has ${last.cells.length} instead of ${width} fields and no line end`,
  );
}

function cutOff({ line }: Row, how: string) {
  const message = `The file is cut off on line ${line}: ${how}.`;
  return unreadable(
    'cut-off',
    message,
    { line },
    'Drop the complete file again. If it is complete, add a line end to its last line. For your operator: if its last line is always a total, set lastRow in the mapping of the source.',
  );
}

/** How many rows a table of `bytes` bytes has if they are as long as its first ones. */
function rowsIn(bytes: number, first: readonly Row[]): number {
  const length = first.reduce((sum, row) => sum + row.bytes, 0);
  return first.length === 0
    ? bytes / LEAST_ROW
    : Math.max(first.length, (bytes / length) * first.length);
}

/** Bytes of the shortest likely row. */
const LEAST_ROW = 8;

function newlineOf(start: string): { newline?: '\n' | '\r\n' | '\r' } {
  const newline = ALL_NEWLINES.map((text) => ({ text, at: start.indexOf(text) }))
    .filter(({ at }) => at >= 0)
    .reduce<{ text: '\n' | '\r\n' | '\r'; at: number } | undefined>(
      (a, b) => (a && a.at <= b.at ? a : b),
      undefined,
    );
  return newline === undefined ? {} : { newline: newline.text };
}
