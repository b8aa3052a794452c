import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { type OpenFolder, openFolderBelow } from '../core/folder.ts';
import { openRegularFile, syncFolder } from '../core/regular-file.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { Fence } from '../redis/lease.ts';
import { written } from './disk.ts';
import { writeFileWhole } from './draft.ts';
import {
  fixFilesIn,
  type IsRead,
  type PlacedFix,
  placeFixFile,
  rememberFixFile,
} from './fix-copies.ts';
import { batchMark, batchMarkIn, pageBeside } from './page/html.ts';
import { findBeside, PAGE_SUFFIX, placeBeside } from './place-file.ts';

/**
 * Puts a batch's page and fix file next to the settled file, for people who have only the share:
 * `<name>.result.html` and `<name>.fix.xlsx`. Each appears complete. A name that is taken
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
      fixes.push(await placeFixFile(day.settled, join(folder, name)));
    }
    await placePage(day.settled, folder, fixes, {
      settledPath,
      pages: await pagesOf(settledPath, others),
    });
    await syncFolder(day.path);
  });
}

/** The files around a settled file. `others`: the batches to which its page refers; `fence`: of the lease with which they are written. */
type Around = { others?: OtherFiles; isRead?: IsRead; fence?: Fence };

/**
 * Runs `refresh`, which rewrites a report, and updates the copies next to its settled file: the page, and the fix file,
 * which is removed with the last open dead letter. Copies that somebody removed come back only with a page that links them.
 * Throws `report-not-written`.
 */
export async function refreshBeside(
  settledPath: string,
  folder: string,
  refresh: () => Promise<void>,
  { others = new Map(), isRead = async () => false, fence }: Around = {},
): Promise<void> {
  await using day = await written(settledPath, () => openDay(settledPath).catch(unlessGone));
  // The settled files are older than they are kept, or somebody removed them.
  if (day === undefined) return refresh();
  const fixFile = await rememberFixFile(folder);
  await refresh();
  const page = await pageOf(day.settled, folder);
  await fence?.();
  const fixes = await fixFile.updateCopies(day.settled, { isRead, hasPage: page !== undefined });
  if (page === undefined) return;
  const pages = await pagesOf(settledPath, others);
  await writeFileWhole(page, [await pageFor(folder, fixes, { settledPath, pages })], fence);
}

/**
 * Opens the folder of a settled file, `done/<day>` of its inbox, through no link: whoever may write to the inbox could
 * lead the copies elsewhere. `settled` is the settled file in it.
 */
export async function openDay(settledPath: string): Promise<OpenFolder & { settled: string }> {
  const day = dirname(settledPath);
  const where = dirname(day);
  const opened = await openFolderBelow(dirname(where), [basename(where), basename(day)]);
  return { ...opened, settled: join(opened.path, basename(settledPath)) };
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
}

async function needFixFiles(folder: string): Promise<string[]> {
  const names = await fixFilesIn(folder);
  if (names.length > 0) return names;
  throw new PoSyncError('report-not-written', `${folder} has no fix file.`, {
    remedy: 'Restart po-sync: it writes the report again.',
    facts: { path: folder },
  });
}

async function placePage(
  settledPath: string,
  folder: string,
  fixes: readonly PlacedFix[],
  links: Links,
) {
  const page = await pageFor(folder, fixes, links);
  await placeBeside(settledPath, {
    suffix: PAGE_SUFFIX,
    make: (temporary) => writeFile(temporary, page),
    isOurs: (path) => isPageOf(page, path),
  });
}

/** The copy of the report's page next to the settled file; undefined when either is gone. */
async function pageOf(settledPath: string, folder: string): Promise<string | undefined> {
  const plain = await pageFor(folder, []).catch(() => undefined);
  return plain && (await findBeside(settledPath, PAGE_SUFFIX, (path) => isPageOf(plain, path)));
}

/** The report's page with the links of its copy next to the settled file. */
async function pageFor(
  folder: string,
  fixes: readonly PlacedFix[],
  links?: Links,
): Promise<string> {
  const page = await readFile(join(folder, 'report.html'), 'utf8');
  const report = `${basename(dirname(folder))}/${basename(folder)}`;
  const inbox = links && inboxOf(links.settledPath);
  return pageBeside(page, { report, fixes, inbox, ...(links?.pages && { pages: links.pages }) });
}

/** The settled files of other batches, by batch. */
export type OtherFiles = ReadonlyMap<string, string>;

/** The settled files of these batches, as far as there are any. */
export async function filesNamed(
  names: readonly string[],
  batches: Pick<Batches, 'find'>,
): Promise<OtherFiles> {
  const files = new Map<string, string>();
  for (const name of new Set(names)) {
    const path = (await batches.find(name))?.settledPath;
    if (path !== undefined) files.set(name, path);
  }
  return files;
}

/** The settled file that a page is next to, and the pages that it links. */
type Links = { settledPath: string; pages?: ReadonlyMap<string, string> };

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
async function isPageOf(page: string, path: string): Promise<boolean> {
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

// The page of a held batch, for people who have only the share. It is in `processing/` itself, because the only file in
// the folder of a batch is the claimed one.

/** Puts the page of the report in `folder` into `processing/` of the inbox, unless it is there already. */
export async function layHeldPage(claimedPath: string, folder: string): Promise<void> {
  await using processing = await openProcessing(claimedPath);
  if (processing === undefined) return;
  const page = await pageFor(folder, []);
  const name = join(processing.path, basename(claimedPath));
  const known = await findBeside(name, PAGE_SUFFIX, (path) => isPageOf(page, path));
  if (known !== undefined && (await readFile(known, 'utf8').catch(() => '')) === page) return;
  await placeBeside(name, {
    suffix: PAGE_SUFFIX,
    make: (temporary) => writeFile(temporary, page),
    isOurs: (path) => isPageOf(page, path),
  });
}

/** Removes that page when the batch is no longer held. */
export async function removeHeldPage(claimedPath: string, batch: string): Promise<void> {
  await using processing = await openProcessing(claimedPath);
  if (processing === undefined) return;
  const name = join(processing.path, basename(claimedPath));
  const page = await findBeside(name, PAGE_SUFFIX, (path) =>
    isPageOf(batchMark(batch).markup, path),
  );
  if (page !== undefined) await rm(page, { force: true });
}

async function openProcessing(claimedPath: string): Promise<OpenFolder | undefined> {
  const processing = dirname(dirname(claimedPath));
  try {
    return await openFolderBelow(dirname(processing), [basename(processing)]);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}
