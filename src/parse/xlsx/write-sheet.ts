import { InvalidInputError, InvalidSpreadsheetError, readSheet, SheetNotFoundError } from 'read-excel-file/node';
import { type PoSyncError, toError } from '../../core/errors.ts';
import { LIMITS } from '../../order/limits.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { applyMasks, findMasks } from './number-masks.ts';
import { isTooLong, type SheetRow, shownDate, shownNumber } from './sheet-row.ts';
import { storeZip } from './store-zip.ts';
import { unzipParts } from './zip-parts.ts';

/** Which sheet of which workbook; the first when none is named. */
export type SheetOrder = { file: Uint8Array; sheet: string | undefined };

/** A number by its digits, so that it is told from a text. */
type StoredNumber = { digits: string };

const LINES = 1_000;
const WANTED = /^(?:\[Content_Types\]\.xml|_rels\/\.rels|xl\/.+\.(?:xml|rels))$/;
const SHEET = /^xl\/worksheets\/[^/]+\.xml$/;
const UNUSED = /^xl\/(?:theme|drawings|charts|chartsheets|media|pivot\w*|comments\w*|externalLinks|printerSettings)\//;

/**
 * Reads one sheet and writes its rows as JSON, one on a line, rows without any value left out. PoSyncError
 * `unreadable-format`, `unreadable-zip`, `unreadable-sheet`, `unreadable-too-large`.
 */
export async function writeSheet({ file, sheet }: SheetOrder, write: (lines: string) => void): Promise<void> {
  const rows = await readSheet<StoredNumber>(cleanWorkbook(Buffer.from(file)), sheet ?? 1, {
    parseNumber: (digits) => ({ digits }),
    trim: false,
  }).catch((error: unknown) => {
    throw asUnreadable(error, sheet);
  });
  let lines: string[] = [];
  for (const [index, cells] of rows.entries()) {
    const row = sheetRow(index + 1, cells);
    if (row.cells.length === 0) continue;
    if (isTooLong(row)) throw tooLong(row.line);
    lines.push(lineOf(row));
    if (lines.length < LINES) continue;
    write(lines.join(''));
    lines = [];
  }
  write(lines.join(''));
}

/**
 * The workbook with nothing in it but what is read, each part inflated within our limits, so that no other size that
 * the file claims or hides counts; numbers with a mask are texts in it.
 */
function cleanWorkbook(file: Buffer): Buffer {
  const isWanted = (name: string) => WANTED.test(name) && !UNUSED.test(name);
  const parts = unzipParts(file, isWanted, LIMITS.workbookInflatedBytes);
  if (!parts.has('xl/workbook.xml')) throw notAWorkbook();
  const cut = [...parts].find(
    ([name, part]) => SHEET.test(name) && !/worksheet>\s*$/.test(part.toString('latin1', part.length - 64)),
  );
  if (cut !== undefined) throw damaged(`${cut[0]} has no end`);
  const styles = [...parts].find(([name]) => name.endsWith('/styles.xml'))?.[1];
  const masks = findMasks(styles?.toString() ?? '');
  if (masks.size === 0) return storeZip(parts);
  const masked = [...parts].map(([name, part]) => {
    return [name, SHEET.test(name) ? Buffer.from(applyMasks(part.toString(), masks)) : part] as const;
  });
  return storeZip(new Map(masked));
}

function sheetRow(line: number, values: readonly unknown[]): SheetRow {
  const row: SheetRow = { line, cells: [], dates: [], fractions: [] };
  for (const [index, value] of values.entries()) {
    const text = textOf(value);
    row.cells.push(text);
    if (value instanceof Date) row.dates.push(index);
    if (isStoredNumber(value) && text.includes('.')) row.fractions.push(index);
  }
  while (row.cells.length > 0 && row.cells.at(-1)?.trim() === '') row.cells.pop();
  return row;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (value instanceof Date) return shownDate(value);
  return isStoredNumber(value) ? shownNumber(value.digits) : '';
}

function isStoredNumber(value: unknown): value is StoredNumber {
  return typeof value === 'object' && value !== null && 'digits' in value;
}

/** Readers of lines end one at these two as well. */
function lineOf(row: SheetRow): string {
  return `${JSON.stringify(row)
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')}\n`;
}

function asUnreadable(error: unknown, sheet: string | undefined): unknown {
  if (error instanceof SheetNotFoundError) return noSuchSheet(sheet);
  if (!(error instanceof InvalidSpreadsheetError || error instanceof InvalidInputError)) {
    // Whatever else it meets in a hostile file is this file's fault too.
    return damaged(toError(error).message);
  }
  return damaged(error.message);
}

function damaged(reason: string): PoSyncError {
  const message = `The workbook cannot be read: ${shorten(reason)}.`;
  return unreadable('format', message, { reason: shorten(reason) }, 'Save it once more, or as CSV (UTF-8).');
}

function noSuchSheet(sheet: string | undefined): PoSyncError {
  if (sheet === undefined) return unreadable('sheet', 'The workbook has no sheet.', {});
  const message = `The workbook has no sheet ${JSON.stringify(shorten(sheet))}.`;
  return unreadable('sheet', message, { value: shorten(sheet) }, 'Correct sheet in the mapping of the source.');
}

function notAWorkbook(): PoSyncError {
  const remedy = 'Drop .xlsx, CSV (UTF-8) or JSON, itself or as gzip.';
  return unreadable('format', 'The file is a zip archive, but no Excel workbook (.xlsx).', {}, remedy);
}

function tooLong(line: number): PoSyncError {
  const message = `Row ${line} is longer than ${LIMITS.recordBytes} bytes.`;
  return unreadable('too-large', message, { line, limit: LIMITS.recordBytes });
}
