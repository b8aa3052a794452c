import { createReadStream } from 'node:fs';
import { copyFile, lstat, open, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { PoSyncError } from '../core/errors.ts';
import { syncFolder } from '../core/whole-file.ts';
import { sameBytes, written } from './disk.ts';
import { writeFileWhole } from './draft.ts';
import { FIX_FILE_NAMES, type FixFileName } from './fix-file.ts';
import { batchMarkIn, pageBeside } from './page/links.ts';
import { findBeside, placeBeside } from './place-file.ts';

const PAGE_SUFFIX = '.result.html';

/** A fix file by its name in the report's folder and by its name next to the settled file. */
type PlacedFix = { name: string; placedAs: string };

/**
 * Puts a batch's page and fix file next to the settled file, for people who have only the share:
 * `<name>.result.html` and `<name>.fix.csv` (`.fix.json`, `.fix.ndjson`). Each appears complete. A name that is taken
 * gets a number; only an earlier page of the same batch is replaced, so a fix file that somebody corrected and that
 * settled under its own name stays. Throws `report-not-written`.
 */
export async function layBeside(
  settledPath: string,
  folder: string,
  { needsFix }: { needsFix: boolean },
): Promise<void> {
  await written(settledPath, async () => {
    const name = needsFix ? await needFixFile(folder) : undefined;
    const fix = name && { name, placedAs: await placeFixFile(settledPath, join(folder, name)) };
    await placePage(settledPath, folder, fix);
    await syncFolder(dirname(settledPath));
  });
}

/**
 * Runs `refresh`, which rewrites a report, and updates the copies next to its settled file: the page, and the fix file,
 * which is removed with the last open dead letter. Copies that somebody changed or removed are left alone.
 * Throws `report-not-written`.
 */
export async function refreshBeside(settledPath: string, folder: string, refresh: () => Promise<void>): Promise<void> {
  const before = await fixFileIn(folder);
  const copy =
    before && (await findBeside(settledPath, fixSuffix(before), (path) => sameBytes(path, join(folder, before))));
  await refresh();
  const now = await fixFileIn(folder);
  if (copy !== undefined && now === undefined) await written(copy, () => rm(copy, { force: true }));
  if (copy !== undefined && now !== undefined) await writeFileWhole(copy, createReadStream(join(folder, now)));
  await refreshPage(settledPath, folder, now);
}

/** The fix file's name in a report's folder; undefined when there is none. */
export async function fixFileIn(folder: string): Promise<FixFileName | undefined> {
  for (const name of FIX_FILE_NAMES) {
    if ((await lstat(join(folder, name)).catch(() => undefined))?.isFile()) return name;
  }
  return undefined;
}

async function needFixFile(folder: string): Promise<FixFileName> {
  const name = await fixFileIn(folder);
  if (name !== undefined) return name;
  throw new PoSyncError('report-not-written', `${folder} has no fix file.`, {
    remedy: 'Restart po-sync: it writes the report again.',
    facts: { path: folder },
  });
}

/** What the copy of a fix file adds to the settled file's name. */
function fixSuffix(name: string): string {
  return `.fix${extname(name)}`;
}

function placeFixFile(settledPath: string, source: string): Promise<string> {
  return placeBeside(settledPath, {
    suffix: fixSuffix(source),
    make: (temporary) => copyFile(source, temporary),
    isOurs: (path) => sameBytes(path, source),
  });
}

async function placePage(settledPath: string, folder: string, fix: PlacedFix | undefined): Promise<void> {
  const page = await pageFor(folder, fix);
  await placeBeside(settledPath, {
    suffix: PAGE_SUFFIX,
    make: (temporary) => writeFile(temporary, page),
    isOurs: (path) => isPageOf(page, path),
  });
}

async function refreshPage(settledPath: string, folder: string, fix: string | undefined): Promise<void> {
  const plain = await pageFor(folder, undefined).catch(() => undefined);
  const copy = plain && (await findBeside(settledPath, PAGE_SUFFIX, (path) => isPageOf(plain, path)));
  if (plain === undefined || copy === undefined) return;
  const placedAs = fix && basename((await findBeside(settledPath, fixSuffix(fix), async () => true)) ?? fix);
  await writeFileWhole(copy, [fix && placedAs ? await pageFor(folder, { name: fix, placedAs }) : plain]);
}

/** The report's page with the links of its copy next to the settled file. */
async function pageFor(folder: string, fix: PlacedFix | undefined): Promise<string> {
  const page = await readFile(join(folder, 'report.html'), 'utf8');
  const report = `${basename(dirname(folder))}/${basename(folder)}`;
  return pageBeside(page, { report, ...(fix && { fix }) });
}

/** Whether a file is a page of the same batch as `page`. */
async function isPageOf(page: string, path: string): Promise<boolean> {
  const mark = batchMarkIn(page);
  return mark !== undefined && batchMarkIn(await readStart(path)) === mark;
}

/** The first 8 KiB, which contain a page's batch mark; empty for anything but a regular file. */
async function readStart(path: string): Promise<string> {
  const stat = await lstat(path);
  if (!stat.isFile()) return '';
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
