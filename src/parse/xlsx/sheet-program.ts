import { readFileSync, writeSync } from 'node:fs';
import { PoSyncError } from '../../core/errors.ts';
import type { WorkbookFacts } from '../record.ts';
import { hasData, readSheet, type SheetRow } from './read-sheet.ts';
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
  const facts = await readRows(await openZipArchive(WORKBOOK));
  writeAll(ROWS, page);
  writeAll(1, JSON.stringify({ kind: 'written', facts }));
} catch (error) {
  if (!(error instanceof PoSyncError)) throw error;
  const { code, message, remedy, facts } = error;
  writeAll(1, JSON.stringify({ kind: 'refused', code, message, remedy, facts }));
}

/** Reads the sheet that is named, or the only visible one with data; none if there are several. */
async function readRows(archive: ZipArchive): Promise<WorkbookFacts> {
  const workbook = await readWorkbookParts(archive);
  const filled = await filledSheets(archive, workbook);
  const sheets = filled.map(({ name }) => name);
  const [only] = filled.length === 1 ? filled : [];
  const sheet = named === undefined ? only : sheetNamed(workbook, named);
  if (sheet === undefined) return { sheets, hiddenRows: 0, hiddenColumns: [] };

  let hiddenRows = 0;
  const hiddenColumns = await readSheet(archive, sheet, workbook, (row) => {
    if (row.isHidden) hiddenRows += 1;
    writeRow(row);
  });
  return { sheet: sheet.name, sheets, hiddenRows, hiddenColumns };
}

/** The visible sheets with data. An only one is not looked at, because it is read anyway; one that is damaged has some. */
async function filledSheets(archive: ZipArchive, { sheets }: Workbook): Promise<Sheet[]> {
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  if (visible.length === 1) return visible;
  const filled: Sheet[] = [];
  for (const sheet of visible)
    if (await hasData(archive, sheet).catch(() => true)) filled.push(sheet);
  return filled;
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
