import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../../config/config.ts';
import type { Stamp } from '../../core/regular-file.ts';
import { readBytes } from '../bytes.ts';
import { hasNeededColumns, resolveColumns } from '../columns.ts';
import { inspectRows } from '../csv/inspect-table.ts';
import type { Inspection } from '../inspection.ts';
import type { Originals } from '../read-fix-file.ts';
import { tableRows } from './sheet-row.ts';
import { openWorkbook } from './workbook.ts';

/** The first pass over an Excel workbook: its only visible sheet with data, or the one that the mapping names. */
export async function inspectWorkbook(
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

/** How much larger a sheet's rows are than the workbook; only sizes the filters. */
const LIKELY_RATIO = 10;

function hiddenWarning(rows: number): string[] {
  if (rows === 0) return [];
  return [rows === 1 ? 'One hidden row of the sheet was read.' : `${rows} hidden rows of the sheet were read.`];
}
