import { createReadStream } from 'node:fs';
import { copyFile, lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hashFile } from '../core/regular-file.ts';
import { FIX_WORKBOOK } from '../correct/fix-workbook.ts';
import { sameBytes, written } from './disk.ts';
import { writeFileWhole } from './draft.ts';
import { besideName, findBeside, PAGE_SUFFIX, placeBeside } from './place-file.ts';

/** A fix file by its name in the report's folder and by its name next to the settled file. */
export type PlacedFix = { name: string; placedAs: string };

/** Whether a batch has read the content of a file next to a settled file, and has it at another path. */
export type IsRead = (name: string, sha256: string) => Promise<boolean>;

/** The largest file that is compared with what batches have read, in bytes. */
const LARGEST = 64 * 1024 * 1024;

/** The name of the fix file in a report's folder, if it has one. */
export async function fixFilesIn(folder: string): Promise<string[]> {
  const found = await lstat(join(folder, FIX_WORKBOOK)).catch(() => undefined);
  return found?.isFile() ? [FIX_WORKBOOK] : [];
}

/** Puts a copy of a fix file next to the settled file, unless it is there already. */
export async function placeFixFile(settledPath: string, source: string): Promise<PlacedFix> {
  const { path: besides, suffix } = fixPlace(settledPath);
  const placedAs = await placeBeside(besides, {
    suffix,
    make: (temporary) => copyFile(source, temporary),
    isOurs: (path) => sameBytes(path, source),
  });
  return { name: basename(source), placedAs };
}

/** Remembers the fix file of a report before it is written again. */
export async function rememberFixFile(folder: string) {
  const source = join(folder, FIX_WORKBOOK);
  const before = (await fixFilesIn(folder)).length > 0 ? await hashFile(source) : undefined;

  /**
   * Updates the copy next to the settled file, and removes one without rows. While a copy that somebody changed is not read
   * by a batch, it stays, and the current rows are in a copy with another name. `hasPage`: a page links the copies.
   */
  async function updateCopies(settled: string, { isRead, hasPage }: Around): Promise<PlacedFix[]> {
    const [first, ...others] = await replaceable(settled, before, isRead);
    const isOpen = (await fixFilesIn(folder)).length > 0;
    const useless = isOpen || first === undefined ? others : [first, ...others];
    for (const copy of useless) await written(copy, () => rm(copy, { force: true }));
    if (!isOpen) return [];
    if (first === undefined) return hasPage ? [await placeFixFile(settled, source)] : [];
    await writeFileWhole(first, createReadStream(source));
    return [{ name: FIX_WORKBOOK, placedAs: basename(first) }];
  }
  return { updateCopies };
}

type Around = { isRead: IsRead; hasPage: boolean };

type Content = { bytes: number; sha256: string };

/** The copies in which nothing of a person is lost: ours unchanged, or read by a batch. A file with a page settled there. */
async function replaceable(
  settled: string,
  ours: Content | undefined,
  isRead: IsRead,
): Promise<string[]> {
  const found: string[] = [];
  const { path: besides, suffix } = fixPlace(settled);
  const most = Math.max(ours?.bytes ?? 0, LARGEST);
  await findBeside(besides, suffix, async (path) => {
    // What another user protects is not ours.
    const content = await hashFile(path, { most }).catch(() => undefined);
    if (content === undefined || content.sha256 === '' || (await isSettled(path))) return false;
    if (content.sha256 === ours?.sha256 || (await isRead(basename(path), content.sha256)))
      found.push(path);
    return false;
  });
  return found;
}

async function isSettled(path: string): Promise<boolean> {
  return (await findBeside(path, PAGE_SUFFIX, async () => true)) !== undefined;
}

/** A fix file that came back, by its name: `orders.csv.fix.xlsx`, `orders.csv.fix2.xlsx`. */
const CAME_BACK = /^(?<stem>.+)\.fix(?<round>[1-9]\d{0,3})?\.xlsx$/s;

/** The name of the fix file where people get it, also as a download: as next to their file. */
export function fixNameFor(settled: string): string {
  const { path, suffix } = fixPlace(settled);
  return besideName(basename(path), suffix, 1);
}

/**
 * What the copy of a fix file adds to the settled file's name, or to the first file's when that is itself a fix file:
 * `orders.csv.fix.xlsx`, then `orders.csv.fix2.xlsx`.
 */
function fixPlace(settledPath: string): { path: string; suffix: string } {
  const { stem, round = '1' } = CAME_BACK.exec(basename(settledPath))?.groups ?? {};
  if (stem === undefined) return { path: settledPath, suffix: '.fix.xlsx' };
  return {
    path: join(dirname(settledPath), stem),
    suffix: `.fix${Number(round) + 1}.xlsx`,
  };
}
