import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../../config/config.ts';
import type { Stamp } from '../../core/regular-file.ts';
import { resolveColumns } from '../columns.ts';
import { inspectRows } from '../csv/inspect-table.ts';
import type { Inspection } from '../inspection.ts';
import { tableRows } from './sheet-row.ts';
import { readWorkbook } from './workbook.ts';

/** The first pass over an Excel workbook: its first sheet, or the one that the mapping names. */
export async function inspectWorkbook(
  handle: FileHandle,
  stamp: Stamp,
  mapping: Mapping,
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<Inspection> {
  const { sheet, decimal } = mapping;
  const rows = tableRows(readWorkbook(handle, stamp, { sheet, hash, signal }), decimal, (header) => {
    return resolveColumns(header.cells, header.line, mapping).at;
  });
  const bytes = Number(stamp.size);
  const { reading, records, warnings } = await inspectRows(rows, bytes * LIKELY_RATIO, mapping);
  return {
    shape: { format: { type: 'xlsx' }, header: reading.columns.header },
    records,
    bytes,
    sha256: hash.digest('hex'),
    warnings,
    isFixFile: reading.columns.errorColumns.length > 0,
    stamp,
    reading: { encoding: 'utf-8', mark: 0, gzip: false, isGuess: false, ...reading, workbook: { sheet, decimal } },
  };
}

/** How much larger a sheet's rows are than the workbook; it only sizes the filters. */
const LIKELY_RATIO = 10;
