import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { codeOf } from '../core/errors.ts';

/** What a look at a file said. */
export type Sight =
  | { kind: 'file'; unchangedFor: number; version: string; mtimeNs: bigint }
  | { kind: 'gone' }
  | { kind: 'other'; what: string };

/** Remembers how files looked, to tell for how long they have not changed by our own watching. */
export type Sightings = {
  look(file: string, now: number): Promise<Sight>;
  /** Forgets every file that is not among these. */
  keepOnly(files: ReadonlySet<string>): void;
};

type Seen = { version: string; since: number };

export function createSightings(): Sightings {
  const seen = new Map<string, Seen>();
  return {
    async look(file, now) {
      const stats = await statOf(file);
      if (stats === undefined) {
        seen.delete(file);
        return { kind: 'gone' };
      }
      if (!stats.isFile()) return { kind: 'other', what: whatIs(stats) };
      const version = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
      const before = seen.get(file);
      const since = before?.version === version ? before.since : now;
      seen.set(file, { version, since });
      return { kind: 'file', unchangedFor: now - since, version, mtimeNs: stats.mtimeNs };
    },
    keepOnly(files) {
      for (const file of seen.keys()) if (!files.has(file)) seen.delete(file);
    },
  };
}

async function statOf(file: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(file, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function whatIs(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'pipe';
  if (stats.isSocket()) return 'socket';
  return 'device';
}
