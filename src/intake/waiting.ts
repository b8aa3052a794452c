import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import { duration } from '../core/format.ts';
import { isGone } from '../core/regular-file.ts';
import { asText } from '../order/sentence.ts';
import { mayRead } from './folders.ts';
import { doneFileOf, takenNames } from './names.ts';
import { patience, type WhatLacks } from './stability.ts';

/** Why a file is not taken yet. `not-permitted`: for the user who looks. */
export type WaitCode = 'unknown' | 'not-permitted' | 'no-done-file' | 'changing' | 'incomplete';

type Why = { code: WaitCode; reason: string };

/**
 * A file in an inbox that no daemon has taken yet. `unchangedMs`: since its last change; absent when it cannot be examined.
 * `why` is absent if nothing about the file keeps it back.
 */
export type WaitingFile = { name: string; unchangedMs?: number; why?: Why };

/** Maximum number of files that are examined for their age, and of those that are returned. */
const MOST_EXAMINED = 500;
const MOST_SHOWN = 5;
/** Bytes of a file that are read to find out whether it is complete: people look often, and a daemon reads it anyway. */
const MOST_READ = 2 ** 24;

/** The names in an inbox that a daemon takes once their files are ready; none of an inbox that this user cannot read. */
export async function namesToTake(
  source: Pick<InboxSource, 'path' | 'files' | 'doneFile'>,
): Promise<string[]> {
  const isTaken = takenNames(source);
  const entries = await readdir(source.path, { withFileTypes: true }).catch(() => []);
  return entries.filter((one) => one.isFile() && isTaken(one.name)).map(({ name }) => name);
}

/**
 * The first files that wait in an inbox, those first that are not ready, each by age. Judges as intake does, but by the times of
 * the file system: a look from outside has not observed the files before. `now`: milliseconds since 1970.
 */
export async function waitingFiles(
  source: Pick<InboxSource, 'path' | 'doneFile' | 'stable'>,
  names: readonly string[],
  { now, lacks }: { now: number; lacks?: WhatLacks },
): Promise<WaitingFile[]> {
  const looked = await Promise.all(
    names.slice(0, MOST_EXAMINED).map(async (name) => {
      const file = path.join(source.path, name);
      const stats = await lstat(file).catch((error: unknown) => codeOf(error) ?? 'unknown error');
      const unchanged = typeof stats === 'string' ? 0 : Math.max(0, now - stats.ctimeMs);
      return { name, file, stats, unchanged };
    }),
  );
  const isLate = ({ unchanged }: { unchanged: number }) => unchanged >= patience(source.stable);
  const sorted = looked.toSorted(
    (a, b) => Number(isLate(a)) - Number(isLate(b)) || b.unchanged - a.unchanged,
  );
  const found: WaitingFile[] = [];
  for (const { name, file, stats, unchanged } of sorted.slice(0, MOST_SHOWN)) {
    if (typeof stats === 'string') {
      found.push({ name, why: { code: 'unknown', reason: `it cannot be examined (${stats})` } });
      continue;
    }
    const isSmall = stats.size <= MOST_READ;
    const why = await whyOf(file, unchanged, source, isSmall ? lacks : undefined);
    found.push({
      name,
      unchangedMs: Math.round(unchanged),
      ...(why && { why }),
    });
  }
  return found;
}

async function whyOf(
  file: string,
  unchanged: number,
  { doneFile, stable }: Pick<InboxSource, 'doneFile' | 'stable'>,
  lacks: WhatLacks | undefined,
): Promise<Why | undefined> {
  if (!(await mayRead(file))) return { code: 'not-permitted', reason: 'no read permission' };
  if (doneFile && (await isGone(doneFileOf(file))))
    return { code: 'no-done-file', reason: `it waits for ${path.basename(doneFileOf(file))}` };
  if (unchanged < stable) return { code: 'changing', reason: 'it is still changing' };
  if (lacks === undefined || unchanged >= patience(stable)) return undefined;
  const lacking = await lacks(file);
  const then = `without a change for ${duration(patience(stable))} it is taken as it is`;
  return lacking === undefined
    ? undefined
    : { code: 'incomplete', reason: `${asText(lacking)}; ${then}` };
}
