import { createHash } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { draftPath } from '../core/regular-file.ts';

/** The end of the name of a page next to its file. */
export const PAGE_SUFFIX = '.result.html';

/** The longest file name that common file systems accept, in bytes. */
const LONGEST_NAME = 255;

/**
 * The name of a file next to `name`: `orders.csv` and `.fix.csv` give `orders.csv.fix.csv`, the second of that name
 * is `orders.csv.fix-2.csv`. A name that gets too long is cut between characters and made unique by part of its hash.
 */
export function besideName(name: string, suffix: string, attempt: number): string {
  const ending = attempt === 1 ? suffix : suffix.replace(/(?=\.[^.]*$)/, `-${attempt}`);
  if (Buffer.byteLength(name + ending) <= LONGEST_NAME) return name + ending;
  const mark = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  return cut(name, LONGEST_NAME - Buffer.byteLength(mark + ending)) + mark + ending;
}

function cut(text: string, bytes: number): string {
  let kept = '';
  let room = bytes;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    kept += character;
  }
  return kept;
}

/** A file to place: how to make it, and whether a file that has its name already is an earlier version of it. */
export type Placing = {
  suffix: string;
  make: (temporary: string) => Promise<void>;
  isOurs: (path: string) => Promise<boolean>;
};

/** Places a file next to the settled file, durably, under the first name that is free or ours. Returns that name. */
export async function placeBeside(
  settledPath: string,
  { suffix, make, isOurs }: Placing,
): Promise<string> {
  const folder = dirname(settledPath);
  const temporary = draftPath(folder);
  try {
    await make(temporary);
    await syncFile(temporary);
    for (let attempt = 1; ; attempt += 1) {
      const name = besideName(basename(settledPath), suffix, attempt);
      const path = join(folder, name);
      if (await claimName(temporary, path)) return name;
      if (!(await isOurs(path))) continue;
      await rename(temporary, path);
      return name;
    }
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Finds the first file with this suffix next to the settled file that is wanted; undefined when there is none. */
export async function findBeside(
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

/** Gives the file a name that no other file has; false when the name is taken. */
export async function claimName(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(thrown) ?? ''))
      throw thrown;
  }
  // Many network shares have no hard links.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return false;
  await rename(temporary, path);
  return true;
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
