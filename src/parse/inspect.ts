import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Mapping, plainMapping } from '../config/config.ts';
import { openRegularFile, type Stamp, stampOf } from '../core/regular-file.ts';
import type { FileFormat } from '../order/record.ts';
import { readBytes } from './bytes.ts';
import { readingsOfBytes } from './code-pages.ts';
import { hasNeededColumns, resolveColumns } from './columns.ts';
import { inspectRows, inspectTable } from './csv/inspect-table.ts';
import { readContent } from './decoder.ts';
import { EncodingFault, type Utf8Evidence, watchUtf8 } from './encoding.ts';
import { encodingError, guessWarning, isSingleByteText } from './fault-place.ts';
import type { Inspection } from './inspection.ts';
import { inspectJson } from './json/inspect-json.ts';
import type { Originals } from './read-fix-file.ts';
import { type Sniffed, sniff } from './sniff.ts';
import { tableRows } from './xlsx/sheet-row.ts';
import { openWorkbook } from './xlsx/workbook.ts';

/**
 * The first pass: reads a file to its end, so that nothing is sent from a broken one, and finds out how it is written.
 * PoSyncError `unreadable-…` with line and column when it cannot be read as orders; `file-missing`, `not-a-file`,
 * `file-not-readable`, and `file-changed` when it was written to meanwhile (read it again).
 */
export async function inspectFile(
  path: string,
  mapping: Mapping | undefined,
  options: InspectOptions = {},
): Promise<Inspection> {
  await using handle = await openRegularFile(path);
  return await inspectOpen(handle, mapping ?? plainMapping(), options);
}

export type InspectOptions = {
  signal?: AbortSignal;
  /** Of a fix file: the rows that it corrects. */
  originals?: Originals | undefined;
};

async function inspectOpen(handle: FileHandle, mapping: Mapping, options: InspectOptions): Promise<Inspection> {
  const stamp = await stampOf(handle);
  const sniffed = await sniff(handle, stamp, mapping);
  const content = { ...sniffed, isGuess: false };
  const warnings = [...sniffed.warnings];
  try {
    return await pass(handle, stamp, content, mapping, options);
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    if (!sniffed.isAssumed || !(await isSingleByteText(handle, stamp, sniffed.gzip, error)))
      throw await encodingError(handle, stamp, sniffed.gzip, error);
    warnings.push(await guessWarning(handle, stamp, sniffed.gzip, error));
  }
  return await pass(handle, stamp, { ...content, encoding: 'windows-1252', isGuess: true, warnings }, mapping, options);
}

async function pass(
  handle: FileHandle,
  stamp: Stamp,
  sniffed: Sniffed & { isGuess: boolean },
  mapping: Mapping,
  { signal, originals }: InspectOptions,
): Promise<Inspection> {
  const { encoding, mark, gzip, isGuess } = sniffed;
  const hash = createHash('sha256');
  if (sniffed.kind === 'workbook') return await inspectWorkbook(handle, stamp, mapping, { hash, signal, originals });
  const content = readContent(handle, stamp, { encoding, mark, gzip, isGuess, hash, signal });
  const bytes = Number(stamp.size);
  const size = gzip ? bytes * LIKELY_RATIO : bytes;
  const found =
    sniffed.kind === 'json'
      ? await json(content, size, mapping)
      : await table(content, sniffed, size, mapping, originals);
  const format = { ...found.format, encoding, ...(gzip && { gzip }) };
  return {
    shape: { format, ...found.shape, ...(mark > 0 && { bom: true }) },
    records: found.records,
    bytes,
    sha256: hash.digest('hex'),
    warnings: [...sniffed.warnings, ...found.warnings],
    isFixFile: found.isFixFile,
    stamp,
    mapping,
    reading: { encoding, mark, gzip, isGuess, ...found.reading },
  };
}

async function json(content: AsyncIterable<Buffer>, bytes: number, mapping: Mapping) {
  const { reading, ...found } = await inspectJson(content, bytes, mapping);
  const type: FileFormat['type'] = reading.layout.kind === 'sequence' ? 'ndjson' : 'json';
  return { ...found, reading, format: { type }, shape: {} };
}

async function table(
  content: AsyncIterable<Buffer>,
  sniffed: Sniffed,
  size: number,
  mapping: Mapping,
  originals: Originals | undefined,
) {
  const evidence = watchUtf8();
  const isWatched = sniffed.isAssumed && sniffed.encoding === 'utf-8';
  const { records, reading, delimiter, newline, decimal, warnings } = await inspectTable(
    isWatched ? watched(content, evidence) : content,
    sniffed.start,
    size,
    mapping,
    originals,
  );
  const type: FileFormat['type'] = 'csv';
  return {
    records,
    isFixFile: reading.columns.errorColumns.length > 0,
    warnings: [...weakWarning(evidence), ...warnings],
    reading,
    format: { type, delimiter, ...(decimal !== undefined && { decimal }) },
    shape: { header: reading.columns.header, ...(newline !== undefined && { newline }) },
  };
}

async function* watched(content: AsyncIterable<Buffer>, evidence: Utf8Evidence): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    evidence.look(piece);
    yield piece;
  }
}

function weakWarning(evidence: Utf8Evidence): string[] {
  const { letters, value } = evidence.weak() ?? {};
  if (value === undefined) return [];
  const count = letters === 1 ? 'Only one letter shows' : `Only ${letters} letters show`;
  const readings = `${value.toString()} (utf-8) · ${readingsOfBytes(value)}`;
  return [`${count} that the file is UTF-8: ${readings}. If another reading is right, set encoding in the mapping.`];
}

/** How much larger content is than its gzip or workbook; only sizes the filters. */
const LIKELY_RATIO = 10;

/** The first pass over an Excel workbook: its only visible sheet with data, or the one that the mapping names. */
async function inspectWorkbook(
  handle: FileHandle,
  stamp: Stamp,
  mapping: Mapping,
  { hash, signal, originals }: { hash: Hash; signal?: AbortSignal | undefined; originals?: Originals | undefined },
): Promise<Inspection> {
  const { sheet, decimal } = mapping;
  await using workbook = await openWorkbook(handle, stamp, { sheet, signal });
  const rows = tableRows(workbook.pages(), decimal, (row) => {
    const isHeader =
      mapping.headerRow === 'auto' ? hasNeededColumns(row.cells, mapping) : row.line === mapping.headerRow;
    return isHeader ? resolveColumns(row.cells, row.line, mapping).at : undefined;
  });
  const bytes = Number(stamp.size);
  const { reading, records, warnings } = await inspectRows(rows, bytes * LIKELY_RATIO, mapping, originals);
  for await (const _ of readBytes(handle, stamp, { gzip: false, hash, signal }));
  return {
    shape: { format: { type: 'xlsx' }, header: reading.columns.header },
    records,
    bytes,
    sha256: hash.digest('hex'),
    warnings: [...hiddenWarning(workbook.hiddenRows), ...warnings],
    isFixFile: reading.columns.errorColumns.length > 0,
    stamp,
    mapping,
    reading: { encoding: 'utf-8', mark: 0, gzip: false, isGuess: false, ...reading, workbook: { sheet, decimal } },
  };
}

function hiddenWarning(rows: number): string[] {
  if (rows === 0) return [];
  return [rows === 1 ? 'One hidden row of the sheet was read.' : `${rows} hidden rows of the sheet were read.`];
}
