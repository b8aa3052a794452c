import { createReadStream } from 'node:fs';
import { copyFile, lstat, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { type OpenFolder, openFolderBelow } from '../core/folder.ts';
import { openRegularFile, syncFolder } from '../core/regular-file.ts';
import { sameBytes, written } from './disk.ts';
import { writeFileWhole } from './draft.ts';
import { FIX_FILE_NAMES, type FixFileName } from './fix-file/fix-file.ts';
import { batchMark, batchMarkIn, pageBeside } from './page/html.ts';
import { findBeside, placeBeside } from './place-file.ts';

/** The end of the name of a page next to its file. */
export const PAGE_SUFFIX = '.result.html';

/** A fix file by its name in the report's folder and by its name next to the settled file. */
export type PlacedFix = { name: string; placedAs: string };

/**
 * Puts a batch's page and fix file next to the settled file, for people who have only the share:
 * `<name>.result.html`, and `<name>.fix.csv` with `.fix.xlsx` (`.fix.json`, `.fix.ndjson`). Each appears complete. A name that is taken
 * gets a number; only an earlier page of the same batch is replaced, so a fix file that somebody corrected and that
 * settled under its own name stays. Throws `report-not-written`.
 */
export async function layBeside(
  settledPath: string,
  folder: string,
  { needsFix }: { needsFix: boolean },
  others: OtherFiles = new Map(),
): Promise<void> {
  await written(settledPath, async () => {
    await using day = await openDay(settledPath);
    const fixes: PlacedFix[] = [];
    for (const name of needsFix ? await needFixFiles(folder) : []) {
      fixes.push({ name, placedAs: await placeFixFile(day.settled, join(folder, name)) });
    }
    await placePage(day.settled, folder, fixes, { settledPath, pages: await pagesOf(settledPath, others) });
    await syncFolder(day.path);
  });
}

/**
 * Runs `refresh`, which rewrites a report, and updates the copies next to its settled file: the page, and the fix file,
 * which is removed with the last open dead letter. Copies that somebody changed or removed are left alone. `others`: the
 * batches to which the page refers.
 * Throws `report-not-written`.
 */
export async function refreshBeside(
  settledPath: string,
  folder: string,
  refresh: () => Promise<void>,
  others: OtherFiles = new Map(),
): Promise<void> {
  await using day = await written(settledPath, () => openDay(settledPath).catch(unlessGone));
  // The settled files are older than they are kept, or somebody removed them.
  if (day === undefined) return refresh();
  const copies: [name: string, copy: string][] = [];
  for (const name of await fixFilesIn(folder)) {
    const { path: besides, suffix } = fixPlace(day.settled, name);
    const copy = await findBeside(besides, suffix, (path) => sameBytes(path, join(folder, name)));
    if (copy !== undefined) copies.push([name, copy]);
  }
  await refresh();
  const now: string[] = await fixFilesIn(folder);
  for (const [name, copy] of copies) {
    if (now.includes(name)) await writeFileWhole(copy, createReadStream(join(folder, name)));
    else await written(copy, () => rm(copy, { force: true }));
  }
  await refreshPage(day.settled, folder, now, { settledPath, pages: await pagesOf(settledPath, others) });
}

/**
 * Opens the folder of a settled file, `done/<day>` of its inbox, through no link: whoever may write to the inbox could
 * lead the copies elsewhere. `settled` is the settled file in it.
 */
export async function openDay(settledPath: string): Promise<OpenFolder & { settled: string }> {
  const day = dirname(settledPath);
  const where = dirname(day);
  const opened = await openFolderBelow(dirname(where), [basename(where), basename(day)]);
  const dispose = () => opened[Symbol.asyncDispose]();
  return { path: opened.path, settled: join(opened.path, basename(settledPath)), [Symbol.asyncDispose]: dispose };
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
}

/** The names of the fix files in a report's folder, the workbook last. */
export async function fixFilesIn(folder: string): Promise<FixFileName[]> {
  const found: FixFileName[] = [];
  for (const name of FIX_FILE_NAMES) {
    if ((await lstat(join(folder, name)).catch(() => undefined))?.isFile()) found.push(name);
  }
  return found;
}

async function needFixFiles(folder: string): Promise<FixFileName[]> {
  const names = await fixFilesIn(folder);
  if (names.length > 0) return names;
  throw new PoSyncError('report-not-written', `${folder} has no fix file.`, {
    remedy: 'Restart po-sync: it writes the report again.',
    facts: { path: folder },
  });
}

/** A fix file that came back, by its name: `orders.csv.fix.csv`, `orders.csv.fix2.xlsx`. */
const CAME_BACK = /^(?<stem>.+)\.fix(?<round>[1-9]\d{0,3})?\.(?:csv|xlsx|json|ndjson)$/s;

/**
 * What the copy of a fix file adds to the settled file's name, or to the first file's when that is itself a fix file:
 * `orders.csv.fix.csv`, then `orders.csv.fix2.csv`.
 */
function fixPlace(settledPath: string, name: string): { path: string; suffix: string } {
  const { stem, round = '1' } = CAME_BACK.exec(basename(settledPath))?.groups ?? {};
  if (stem === undefined) return { path: settledPath, suffix: `.fix${extname(name)}` };
  return { path: join(dirname(settledPath), stem), suffix: `.fix${Number(round) + 1}${extname(name)}` };
}

function placeFixFile(settledPath: string, source: string): Promise<string> {
  const { path: besides, suffix } = fixPlace(settledPath, source);
  return placeBeside(besides, {
    suffix,
    make: (temporary) => copyFile(source, temporary),
    isOurs: (path) => sameBytes(path, source),
  });
}

async function placePage(settledPath: string, folder: string, fixes: readonly PlacedFix[], around: Around) {
  const page = await pageFor(folder, fixes, around);
  await placeBeside(settledPath, {
    suffix: PAGE_SUFFIX,
    make: (temporary) => writeFile(temporary, page),
    isOurs: (path) => isPageOf(page, path),
  });
}

async function refreshPage(settledPath: string, folder: string, names: readonly string[], around: Around) {
  const plain = await pageFor(folder, []).catch(() => undefined);
  const copy = plain && (await findBeside(settledPath, PAGE_SUFFIX, (path) => isPageOf(plain, path)));
  if (plain === undefined || copy === undefined) return;
  const fixes: PlacedFix[] = [];
  for (const name of names) {
    const { path: besides, suffix } = fixPlace(settledPath, name);
    const placed = await findBeside(besides, suffix, async () => true);
    fixes.push({ name, placedAs: basename(placed ?? name) });
  }
  await writeFileWhole(copy, [await pageFor(folder, fixes, around)]);
}

/** The report's page with the links of its copy next to the settled file. */
export async function pageFor(folder: string, fixes: readonly PlacedFix[], around?: Around): Promise<string> {
  const page = await readFile(join(folder, 'report.html'), 'utf8');
  const report = `${basename(dirname(folder))}/${basename(folder)}`;
  const inbox = around && inboxOf(around.settledPath);
  return pageBeside(page, { report, fixes, inbox, ...(around?.pages && { pages: around.pages }) });
}

/** The settled files of other batches, by batch. */
export type OtherFiles = ReadonlyMap<string, string>;

/** The settled file that a page is next to, and the pages that it links. */
type Around = { settledPath: string; pages?: ReadonlyMap<string, string> };

/** A settled file is in `done/<day>` or `failed/<day>` of its inbox. */
function inboxOf(settledPath: string): string {
  return dirname(dirname(dirname(settledPath)));
}

/** The pages of other batches, relative to the settled file. Of another inbox, they may be on another share. */
async function pagesOf(settledPath: string, others: OtherFiles): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const [batch, path] of others) {
    if (inboxOf(path) !== inboxOf(settledPath)) continue;
    const isPage = (one: string) => isPageOf(batchMark(batch).markup, one);
    // A page that was removed or cannot be read is only named.
    const page = await findBeside(path, PAGE_SUFFIX, isPage).catch(() => undefined);
    if (page === undefined) continue;
    const steps = relative(dirname(settledPath), page).split(sep);
    pages.set(batch, steps.map((step) => encodeURIComponent(step.toWellFormed())).join('/'));
  }
  return pages;
}

/** Whether a file is a page of the same batch as `page`. */
export async function isPageOf(page: string, path: string): Promise<boolean> {
  const mark = batchMarkIn(page);
  return mark !== undefined && batchMarkIn(await readStart(path)) === mark;
}

/** The first 8 KiB, which contain a page's batch mark; empty for anything but a regular file that may be read. */
async function readStart(path: string): Promise<string> {
  try {
    await using handle = await openRegularFile(path);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    // A file that another user put there is not ours; the batch must not wait for it.
    if (['not-a-file', 'file-not-readable'].includes(codeOf(error) ?? '')) return '';
    throw error;
  }
}
