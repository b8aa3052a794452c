import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { type OpenFolder, openFolderBelow } from '../core/folder.ts';
import { isPageOf, pageFor } from './beside.ts';
import { batchMark } from './page/html.ts';
import { findBeside, PAGE_SUFFIX, placeBeside } from './place-file.ts';

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
  const page = await findBeside(name, PAGE_SUFFIX, (path) => isPageOf(batchMark(batch).markup, path));
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
