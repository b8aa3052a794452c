import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { PoSyncError } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import { FIX_WORKBOOK, type FixSheet, fixWorkbook } from '../correct/fix-workbook.ts';
import { openOwnFolder } from '../intake/folders.ts';
import type { Fence } from '../redis/lease.ts';
import { clearDrafts, writeFileWhole } from './draft.ts';
import { type OpenFacts, openPage } from './page/open-page.ts';

/** The folder beside the reports, and in each inbox, with what needs a person now. */
const OPEN_FOLDER = 'open';

/** `sheets`: the rows of `booked` orders. */
export type OpenState = { facts: OpenFacts; sheets: readonly FixSheet[]; booked: number };

/** How spreadsheets mark a workbook that they have open. */
const MARKS = [`~$${FIX_WORKBOOK}`, `.~lock.${FIX_WORKBOOK}#`];
/** A file that a program has open cannot be replaced on some systems. */
const IN_USE = new Set(['EBUSY', 'EPERM', 'EACCES']);

/**
 * Writes `open.html` and `fix.xlsx` into the folder `open` of `parent`, each complete or not at all. A workbook that a
 * spreadsheet has open stays as it is; then the result is false. Throws `report-not-written`, `folder-is-link`.
 */
export async function writeOpen(
  parent: string,
  { facts, sheets, booked }: OpenState,
  { at, fence }: { at: number; fence: Fence },
): Promise<boolean> {
  await using folder = await openOwnFolder(parent, OPEN_FOLDER);
  const book = path.join(folder.path, FIX_WORKBOOK);
  const isLocked = !(await replaceBook(folder.path, sheets, fence));
  const stat = isLocked ? await lstat(book).catch(() => undefined) : undefined;
  const state = stat ? { lockedSince: iso(Math.round(stat.mtimeMs)) } : {};
  const page = openPage(facts, { orders: booked, ...state }, iso(at));
  await writeFileWhole(path.join(folder.path, 'open.html'), [page], fence);
  await clearDrafts(folder.path);
  return !isLocked;
}

/** False where a spreadsheet has it open. */
async function replaceBook(
  folder: string,
  sheets: readonly FixSheet[],
  fence: Fence,
): Promise<boolean> {
  const book = path.join(folder, FIX_WORKBOOK);
  const names = await readdir(folder);
  if (MARKS.some((mark) => names.includes(mark))) return false;
  try {
    if (sheets.length > 0) await writeFileWhole(book, fixWorkbook(sheets), fence);
    else await rm(book, { force: true });
    return true;
  } catch (error) {
    const code = error instanceof PoSyncError ? error.facts['reason'] : undefined;
    if (names.includes(FIX_WORKBOOK) && IN_USE.has(String(code))) return false;
    throw error;
  }
}
