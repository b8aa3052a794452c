import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import { openRegularFile } from '../core/regular-file.ts';
import type { Place, SourceRecord } from '../order/record.ts';
import { createOwnCells } from './csv/own-cells.ts';
import { createRowParser, type Row } from './csv/row-parser.ts';
import { createTableBody } from './csv/table-body.ts';
import { readContent } from './decoder.ts';
import type { Inspection, JsonReading, TableReading } from './inspection.ts';
import { createJsonParser } from './json/json-records.ts';
import { createOwnObjects, type ObjectRecord } from './objects.ts';
import { type SheetRow, tableRows } from './xlsx/sheet-row.ts';
import { openWorkbook } from './xlsx/workbook.ts';

/** The records of one piece of a file. `lineOf` gives the line on which a value within one of them begins. */
export type RecordPage = { records: readonly SourceRecord[]; lineOf: LineOf };

/** `pointer` is that of the value; `place` that of its record. */
export type LineOf = (place: Place, pointer: string) => number;

/**
 * The second pass: the records of an inspected file with their places, page by page, in the file's order.
 * PoSyncError `file-changed` when the file changed since it was inspected.
 */
export async function* readRecords(
  path: string,
  inspection: Inspection,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordPage> {
  await using handle = await openRegularFile(path);
  yield* pagesOf(handle, inspection, signal);
}

async function* pagesOf(handle: FileHandle, { stamp, reading, mapping }: Inspection, signal: AbortSignal | undefined) {
  if (reading.kind === 'table' && reading.workbook) {
    await using workbook = await openWorkbook(handle, stamp, { sheet: reading.workbook.sheet, signal });
    return yield* sheetPages(workbook.pages(), reading, mapping);
  }
  const content = readContent(handle, stamp, { ...reading, signal });
  switch (reading.kind) {
    case 'table':
      return yield* tablePages(content, reading, mapping);
    case 'json':
      return yield* jsonPages(content, reading, mapping);
  }
}

async function* tablePages(
  content: AsyncIterable<Buffer>,
  reading: TableReading,
  mapping: Mapping,
): AsyncGenerator<RecordPage> {
  const parser = createRowParser(reading);
  const pageOf = createPages(reading, mapping);
  for await (const chunk of content) yield pageOf(await parser.write(chunk));
  yield pageOf(await parser.end());
}

async function* sheetPages(
  pages: AsyncIterable<SheetRow[]>,
  reading: TableReading,
  mapping: Mapping,
): AsyncGenerator<RecordPage> {
  const pageOf = createPages(reading, mapping);
  const { columns, workbook } = reading;
  const isHeader = ({ cells }: SheetRow) =>
    cells.length === columns.names.length && cells.every((cell, index) => cell === columns.names[index]);
  const find = (row: SheetRow) => (isHeader(row) ? columns.at : undefined);
  for await (const rows of tableRows(pages, workbook?.decimal ?? 'auto', find)) yield pageOf(rows);
}

function createPages(
  { columns, hasSepLine, fillDown, originals }: TableReading,
  mapping: Mapping,
): (rows: Row[]) => RecordPage {
  const body = createTableBody(hasSepLine, mapping);
  const own = createOwnCells(columns, fillDown, originals);
  return (rows) => ({ records: body.take(rows).map(toRecord), lineOf: sameLine });

  function toRecord(row: Row): SourceRecord {
    const { fixTarget, line, isUnproved } = own.fixOf(row);
    const fixed = {
      ...(line !== undefined && { line }),
      ...(fixTarget && { fixTarget }),
      ...(isUnproved && { isUnproved }),
    };
    return { kind: 'row', place: { line: row.line }, cells: own.cellsOf(row), ...fixed };
  }
}

function sameLine({ line }: Place): number {
  return line;
}

async function* jsonPages(
  content: AsyncIterable<Buffer>,
  { layout }: JsonReading,
  mapping: Mapping,
): AsyncGenerator<RecordPage> {
  const parser = createJsonParser(layout);
  const pageOf = createObjectPages(mapping);
  for await (const chunk of content) yield pageOf(parser.write(chunk));
  yield pageOf(parser.end());
}

function createObjectPages(mapping: Mapping): (found: readonly ObjectRecord[]) => RecordPage {
  const own = createOwnObjects(mapping);
  return (found) => ({
    records: found.map((object) => own.recordOf(object)),
    lineOf: ({ line, pointer: at }, pointer) =>
      found.find((object) => object.line === line && object.pointer === at)?.lineOf(pointer) ?? line,
  });
}
