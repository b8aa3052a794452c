import type { Dirent } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { processingOf } from './claim.ts';

/** An empty folder that is younger may be a claim under way. */
const YOUNG = 60_000;

/** The files that lie claimed in an inbox, whoever claimed them; the oldest batch first. Sweeps empty folders. */
export async function leftClaims(source: InboxSource): Promise<ClaimedFile[]> {
  return filesIn(processingOf(source), source.name, 'inbox');
}

/** The copies of an export that lie in its spool; the oldest batch first. */
export async function leftCopies(spool: string, source: string): Promise<ClaimedFile[]> {
  return filesIn(spool, source, 'export');
}

async function filesIn(folder: string, source: string, kind: ClaimedFile['kind']): Promise<ClaimedFile[]> {
  const batches = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const claimed = await Promise.all(
    batches.sort().map(async (batch): Promise<ClaimedFile[]> => {
      const files = await entriesOf(path.join(folder, batch));
      if (files.every(isHidden)) await sweep(path.join(folder, batch), files);
      const [file] = files.filter((entry) => entry.isFile() && !isHidden(entry));
      return file ? [{ batch, source, kind, name: file.name, path: path.join(folder, batch, file.name) }] : [];
    }),
  );
  return claimed.flat();
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A copy that was broken off has a hidden name: it was never handed over. */
function isHidden({ name }: Dirent): boolean {
  return name.startsWith('.');
}

/** Only what was seen is removed: a claim that arrives meanwhile keeps its folder. */
async function sweep(folder: string, hidden: readonly Dirent[]): Promise<void> {
  try {
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs < YOUNG) return;
    for (const { name } of hidden) await rm(path.join(folder, name), { force: true });
    await rmdir(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}
