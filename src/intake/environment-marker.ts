import { randomBytes } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { folderError } from './folders.ts';

/** The file that says which environment an inbox belongs to; as it begins with a dot, nobody takes it for orders. */
const MARK = '.po-sync-environment';

/** How often and how long (ms) the first one's mark is waited for where it cannot appear whole. */
const LOOKS = 20;
const BETWEEN_LOOKS = 50;

/**
 * Marks an inbox as `environment`'s, or makes sure that it is. PoSyncError `inbox-of-another-environment`;
 * `folder-missing` and `folder-not-writable` for a folder that cannot serve as an inbox.
 */
export async function markInbox(folder: string, environment: string): Promise<void> {
  const mark = path.join(folder, MARK);
  await requireFolder(folder);
  const owner = (await fingerprintOf(folder)) ?? (await claim(mark, environment));
  if (owner === environment) return;
  throw new PoSyncError('inbox-of-another-environment', `The inbox ${folder} belongs to the environment ${owner}.`, {
    remedy: `Give ${environment} an inbox of its own. If ${owner} uses this one no more, empty it and remove ${mark}.`,
    facts: { folder, environment, owner },
  });
}

/** The environment an inbox is marked for; undefined when it has no mark, or is not there at all. */
export async function fingerprintOf(folder: string): Promise<string | undefined> {
  const mark = path.join(folder, MARK);
  try {
    return (await readFile(mark, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw folderError(error, folder);
  }
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => Promise.reject(folderError(error, folder)));
  if (!found.isDirectory()) throw folderError({ code: 'ENOTDIR' }, folder);
}

/** Writes the mark whole or not at all; who comes second finds the first one's. */
async function claim(mark: string, environment: string): Promise<string> {
  const draft = `${mark}.${randomBytes(4).toString('hex')}`;
  const text = `${environment}\n`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await link(draft, mark).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // A share without hard links.
      return writeFile(mark, text, { flag: 'wx' });
    });
    return environment;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return await firstOwner(mark);
    throw folderError(error, path.dirname(mark));
  } finally {
    await rm(draft, { force: true });
  }
}

async function firstOwner(mark: string): Promise<string> {
  for (let look = 0; look < LOOKS; look++) {
    const owner = await fingerprintOf(path.dirname(mark));
    if (owner !== undefined && owner !== '') return owner;
    await delay(BETWEEN_LOOKS);
  }
  throw new PoSyncError('folder-trouble', `The mark ${mark} is empty.`, { remedy: 'Remove it and start again.' });
}
