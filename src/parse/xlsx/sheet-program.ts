import { readFileSync, writeSync } from 'node:fs';
import { PoSyncError } from '../../core/errors.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { hasData, readSheet } from './read-sheet.ts';
import type { SheetRow } from './sheet-row.ts';
import { readWorkbookParts, type Sheet, sheetNamed, type Workbook } from './workbook-parts.ts';
import { openZipArchive, type ZipArchive } from './zip-archive.ts';

/**
 * A separate process for one workbook: its memory is freed when it ends, and exceeding a limit ends only this file. Reads the
 * name of the sheet from descriptor 0 and the workbook from descriptor 4, writes its rows to descriptor 3, one line of
 * JSON each, and how it ended to descriptor 1.
 */
const { sheet: named } = JSON.parse(readFileSync(0, 'utf8')) as { sheet?: string };
const ROWS = 3;
const WORKBOOK = 4;
const PAGE = 64 * 1024;
let page = '';

try {
  const archive = await openZipArchive(WORKBOOK);
  const workbook = await readWorkbookParts(archive);
  const sheet =
    named === undefined ? await onlySheet(archive, workbook) : sheetNamed(workbook, named);
  const unseen = await readSheet(archive, sheet, workbook, writeRow);
  writeAll(ROWS, page);
  const notRead = named === undefined ? [] : await filledSheets(archive, workbook, sheet);
  writeAll(1, JSON.stringify({ kind: 'written', unseen: { ...unseen, notRead } }));
} catch (error) {
  if (!(error instanceof PoSyncError)) throw error;
  const { code, message, remedy, facts } = error;
  writeAll(1, JSON.stringify({ kind: 'refused', code, message, remedy, facts }));
}

/** The visible sheet with data; the mapping must choose if there are several. */
async function onlySheet(archive: ZipArchive, workbook: Workbook): Promise<Sheet> {
  const visible = workbook.sheets.filter((sheet) => !sheet.isHidden);
  const [first] = visible;
  if (first === undefined)
    throw unreadable(
      'sheet',
      'The workbook has no visible sheet.',
      {},
      'Show the sheet with the orders and save it again.',
    );
  const filled: Sheet[] = [];
  for (const sheet of visible.length === 1 ? [] : visible)
    if (await hasData(archive, sheet)) filled.push(sheet);
  if (filled.length < 2) return filled[0] ?? first;
  const names = shorten(filled.map(({ name }) => JSON.stringify(name)).join(', '));
  const message = `The workbook has several visible sheets with data: ${names}.`;
  const remedy =
    'Save each sheet as a separate file, or hide or delete the others. For your operator: set sheet in the mapping of the source.';
  throw unreadable('sheet', message, { value: names }, remedy);
}

/** The names of the other visible sheets with data: nobody may have meant to leave them out. One that is damaged has some. */
async function filledSheets(
  archive: ZipArchive,
  workbook: Workbook,
  read: Sheet,
): Promise<string[]> {
  const names: string[] = [];
  for (const sheet of workbook.sheets) {
    if (sheet.isHidden || sheet.part === read.part) continue;
    if (await hasData(archive, sheet).catch(() => true)) names.push(sheet.name);
  }
  return names;
}

/** Readers of lines end one at U+2028 and U+2029 as well. */
function writeRow(row: SheetRow): void {
  page += `${JSON.stringify(row)
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')}\n`;
  if (page.length < PAGE) return;
  writeAll(ROWS, page);
  page = '';
}

function writeAll(to: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(to, bytes, at);
}
