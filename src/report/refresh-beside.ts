import { createReadStream } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fixFileIn, fixSuffix, isPageOf, pageFor } from './beside.ts';
import { besideName } from './beside-name.ts';
import { openDraft } from './draft.ts';
import { sameBytes } from './same-bytes.ts';
import { written } from './written.ts';

/**
 * Does `refresh`, which writes a report anew, and brings what lies beside its settled file up to date: the page, and
 * the fix file, which goes with the last open dead letter. What somebody changed there, or took away, is theirs.
 * Throws `report-not-written`.
 */
export async function refreshBeside(settledPath: string, folder: string, refresh: () => Promise<void>): Promise<void> {
  const before = await fixFileIn(folder);
  const copy =
    before && (await findBeside(settledPath, fixSuffix(before), (path) => sameBytes(path, join(folder, before))));
  await refresh();
  const now = await fixFileIn(folder);
  if (copy !== undefined && now === undefined) await written(copy, () => rm(copy, { force: true }));
  if (copy !== undefined && now !== undefined) await replace(copy, createReadStream(join(folder, now)));
  await refreshPage(settledPath, folder, now);
}

async function refreshPage(settledPath: string, folder: string, fix: string | undefined): Promise<void> {
  const plain = await pageFor(folder, undefined).catch(() => undefined);
  const copy = plain && (await findBeside(settledPath, '.result.html', (path) => isPageOf(plain, path)));
  if (plain === undefined || copy === undefined) return;
  const laidAs = fix && basename((await findBeside(settledPath, fixSuffix(fix), async () => true)) ?? fix);
  await replace(copy, [fix && laidAs ? await pageFor(folder, { name: fix, laidAs }) : plain]);
}

/** The first file of those that may lie there which is wanted; undefined when there is none. */
async function findBeside(
  settledPath: string,
  suffix: string,
  isWanted: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(dirname(settledPath), besideName(basename(settledPath), suffix, attempt));
    if (!(await lstat(path).catch(() => undefined))?.isFile()) return undefined;
    if (await isWanted(path)) return path;
  }
}

async function replace(path: string, pieces: AsyncIterable<Uint8Array> | readonly string[]): Promise<void> {
  await using draft = await openDraft(path);
  for await (const piece of pieces) await draft.write(piece);
  await draft.publish();
}
