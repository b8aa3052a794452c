import { constants } from 'node:fs';
import { chown, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { openFolder } from '../core/folder.ts';
import { openRegularFile, syncFolder } from '../core/regular-file.ts';
import { showPaths } from '../core/shown-path.ts';

/**
 * Redis may come back from before a decision. The folder of reports, which all hosts of a ledger share, keeps them: each process
 * writes a separate journal for each day, one decision a line, before Redis knows it.
 */
export type Journals = {
  /** Durable when it resolves. */
  append(name: string, text: string): Promise<void>;
  /** Fails while the folder is away: nobody knows then what was decided. */
  list(): Promise<Journal[]>;
  lines(name: string): AsyncIterable<string>;
};

/** A file of decisions, and its size. */
export type Journal = { name: string; bytes: number };

/** Below the folder of reports. */
export const FOLDER = '.decisions';

const NAME = /^(\d{4}-\d\d-\d\d)-.+\.ndjson$/;

/** The journals below a folder of reports. */
export function journalsBelow(reports: string): Journals {
  const path = join(reports, FOLDER);
  return {
    append: (name, text) =>
      append(reports, name, text).catch((error: unknown) => Promise.reject(showPaths(error))),
    async list() {
      const found = await readdir(path).catch(async (error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
        await stat(reports);
        return [];
      });
      const names = found.filter((name) => NAME.test(name)).sort();
      const sizes = await Promise.all(
        names.map(async (name) => (await stat(join(path, name))).size),
      );
      return names.map((name, i) => ({ name, bytes: sizes[i] ?? 0 }));
    },
    async *lines(name) {
      await using file = await openRegularFile(join(path, name));
      yield* file.readLines({ autoClose: false });
    },
  };
}

async function append(reports: string, name: string, text: string): Promise<void> {
  const path = join(reports, FOLDER);
  const { uid, gid } = await stat(reports);
  // Not with the folders above it: the disk of the reports may be away.
  const isNew = await mkdir(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
      return false;
    },
  );
  await using folder = await openFolder(path);
  // Of the daemon's user, who writes and reads there, too.
  if (isNew) await chown(folder.path, uid, gid).catch(() => undefined);
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  await using file = await open(join(folder.path, name), flags, 0o640);
  await file.chown(uid, gid).catch(() => undefined);
  await file.appendFile(text);
  await file.sync();
  await syncFolder(folder.path);
}

const DAY = 86_400_000;

/** Removes the journals of days that are longer than `keep` ago. */
export async function expireJournals(reports: string, keep: number, now: number): Promise<void> {
  const journals = await journalsBelow(reports).list();
  for (const { name } of journals) {
    const ended = Date.parse(NAME.exec(name)?.[1] ?? '') + DAY;
    if (ended < now - keep) await rm(join(reports, FOLDER, name), { force: true });
  }
}
