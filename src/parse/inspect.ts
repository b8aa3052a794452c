import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Mapping, plainMapping } from '../config/config.ts';
import { openRegularFile, type Stamp, stampOf } from '../core/regular-file.ts';
import type { FileFormat } from '../order/record.ts';
import { readContent } from './content.ts';
import { inspectTable } from './csv/inspect-table.ts';
import { EncodingFault } from './encoding.ts';
import { encodingError, isSingleByteText } from './fault-place.ts';
import type { Inspection } from './inspection.ts';
import { inspectJson } from './json/inspect-json.ts';
import { type Sniffed, sniff } from './sniff.ts';
import { inspectWorkbook } from './xlsx/inspect-workbook.ts';

/**
 * The first pass: reads a file to its end, so that nothing is ever sent from a broken one, and finds out how it is
 * written. PoSyncError `unreadable-…` with line and column when it cannot be read as orders; `file-missing`,
 * `not-a-file`, `file-not-readable`, and `file-changed` when it was written to meanwhile (read it again).
 */
export async function inspectFile(
  path: string,
  mapping: Mapping | undefined,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Inspection> {
  await using handle = await openRegularFile(path);
  return await proveOpen(handle, mapping ?? plainMapping(), signal);
}

async function proveOpen(handle: FileHandle, mapping: Mapping, signal: AbortSignal | undefined): Promise<Inspection> {
  const stamp = await stampOf(handle);
  const sniffed = await sniff(handle, stamp, mapping);
  try {
    return await pass(handle, stamp, sniffed, mapping, signal);
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    if (!sniffed.isGuess || !(await isSingleByteText(handle, stamp, sniffed.gzip, error)))
      throw await encodingError(handle, stamp, sniffed.gzip, error);
  }
  return await passSingleByte(handle, stamp, sniffed, mapping, signal);
}

/** Text that is not UTF-8 and carries no mark is what Windows programs write. */
async function passSingleByte(
  handle: FileHandle,
  stamp: Stamp,
  sniffed: Sniffed,
  mapping: Mapping,
  signal: AbortSignal | undefined,
): Promise<Inspection> {
  const warnings = [...sniffed.warnings, 'The file is not UTF-8: read as windows-1252.'];
  try {
    return await pass(handle, stamp, { ...sniffed, encoding: 'windows-1252', warnings }, mapping, signal);
  } catch (error) {
    throw error instanceof EncodingFault ? await encodingError(handle, stamp, sniffed.gzip, error) : error;
  }
}

async function pass(
  handle: FileHandle,
  stamp: Stamp,
  sniffed: Sniffed,
  mapping: Mapping,
  signal: AbortSignal | undefined,
): Promise<Inspection> {
  const { encoding, mark, gzip } = sniffed;
  const hash = createHash('sha256');
  if (sniffed.kind === 'workbook') return await inspectWorkbook(handle, stamp, mapping, hash, signal);
  const content = readContent(handle, stamp, { encoding, mark, gzip, hash, signal });
  const bytes = Number(stamp.size);
  const found = sniffed.kind === 'json' ? await json(content, mapping) : await table(content, sniffed, bytes, mapping);
  const format = { ...found.format, encoding, ...(gzip && { gzip }) };
  return {
    shape: { format, ...found.shape, ...(mark > 0 && { bom: true }) },
    records: found.records,
    bytes,
    sha256: hash.digest('hex'),
    warnings: [...sniffed.warnings, ...found.warnings],
    isFixFile: found.isFixFile,
    stamp,
    reading: { encoding, mark, gzip, ...found.reading },
  };
}

async function json(content: AsyncIterable<Buffer>, mapping: Mapping) {
  const { records, layout, isFixFile, warnings } = await inspectJson(content, mapping);
  const type: FileFormat['type'] = layout?.kind === 'sequence' ? 'ndjson' : 'json';
  const reading = layout === undefined ? { kind: 'empty' as const } : { kind: 'json' as const, layout };
  return { records, isFixFile, warnings, reading, format: { type }, shape: {} };
}

async function table(content: AsyncIterable<Buffer>, sniffed: Sniffed, bytes: number, mapping: Mapping) {
  const size = sniffed.gzip ? bytes * LIKELY_RATIO : bytes;
  const { records, reading, delimiter, newline, decimal, warnings } = await inspectTable(
    content,
    sniffed.start,
    size,
    mapping,
  );
  const type: FileFormat['type'] = 'csv';
  return {
    records,
    isFixFile: (reading?.columns.errorColumns.length ?? 0) > 0,
    warnings,
    reading: reading ?? { kind: 'empty' as const },
    format: { type, delimiter, ...(decimal !== undefined && { decimal }) },
    shape: { ...(reading && { header: reading.columns.header }), ...(newline !== undefined && { newline }) },
  };
}

/** How much larger tables are than their gzip; it only sizes the filters. */
const LIKELY_RATIO = 10;
