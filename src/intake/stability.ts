import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { codeOf, toError } from '../core/errors.ts';
import type { Sentence } from '../order/sentence.ts';

/** A file that did not change for long enough. `version` changes whenever the content may have changed. */
export type ReadyFile = { file: string; version: string; mtimeNs: bigint };

/** The result of checking some files. */
export type Checked = {
  /** The oldest first. `isLate`: it is taken even if it is not complete. */
  ready: (ReadyFile & { isLate: boolean })[];
  /** Still changing. */
  waiting: string[];
  /** Milliseconds until the first changing file becomes stable, if it stays unchanged. */
  firstIn: number;
  /** Entries that are not regular files or cannot be examined. */
  others: { file: string; kind: string }[];
};

export type Stability = {
  check(files: readonly string[], now: number): Promise<Checked>;
};

/** What a file lacks by a first pass over it; undefined for one that is complete. */
export type WhatLacks = (file: string) => Promise<Sentence | undefined>;

/** The patience with an incomplete file, as a multiple of `stable`. */
const PATIENCE = 10;

/** How long an incomplete file is waited for, in milliseconds. */
export function patience(stable: number): number {
  return PATIENCE * stable;
}

/**
 * Decides when a file is stable: it has not changed for `stable` ms by our own observation (its timestamps do not
 * count, also at startup).
 */
export function createStability(stable: number): Stability {
  const observations = createObservations();

  return {
    async check(files, now) {
      const waiting: string[] = [];
      let firstIn = Number.POSITIVE_INFINITY;
      const others: Checked['others'] = [];
      const ready: Checked['ready'] = [];
      observations.keepOnly(new Set(files));
      for (const [file, seen] of await observations.observeAll(files, now)) {
        if (seen.kind === 'gone') continue;
        if (seen.kind === 'other') {
          others.push({ file, kind: seen.what });
          continue;
        }
        const { unchangedFor, version, mtimeNs } = seen;
        if (unchangedFor < stable) {
          firstIn = Math.min(firstIn, stable - unchangedFor);
          waiting.push(file);
        } else ready.push({ file, version, mtimeNs, isLate: unchangedFor >= patience(stable) });
      }
      return { ready: ready.sort(byAge), waiting, firstIn, others };
    },
  };
}

/** Sorts the oldest first. */
export function byAge(a: DatedFile, b: DatedFile): number {
  if (a.mtimeNs !== b.mtimeNs) return a.mtimeNs < b.mtimeNs ? -1 : 1;
  return a.file < b.file ? -1 : 1;
}

/** A file by its path, and when its content changed last, in nanoseconds since 1970. */
export type DatedFile = { file: string; mtimeNs: bigint };

/**
 * The newest of some files, of those with one time the last by name; the older ones; and what is no file. Rejects when one cannot be
 * examined: it may be the newest.
 */
export async function newestOf(
  files: readonly string[],
): Promise<{ newest?: DatedFile; older: string[]; others: string[] }> {
  const dated: DatedFile[] = [];
  const others: string[] = [];
  for (const file of files) {
    const stats = await statOf(file);
    if (stats?.isFile()) dated.push({ file, mtimeNs: stats.mtimeNs });
    else if (stats !== undefined) others.push(file);
  }
  const newest = dated.sort(byAge).pop();
  return { ...(newest && { newest }), older: dated.map(({ file }) => file), others };
}

type Observation =
  | { kind: 'file'; unchangedFor: number; version: string; mtimeNs: bigint }
  | { kind: 'gone' }
  | { kind: 'other'; what: string };

/** Remembers the last version of each file and when it was first seen. */
function createObservations() {
  const seen = new Map<string, { version: string; since: number }>();

  function observe(file: string, stats: BigIntStats | undefined, now: number): Observation {
    if (stats === undefined) {
      seen.delete(file);
      return { kind: 'gone' };
    }
    if (!stats.isFile()) return { kind: 'other', what: kindOf(stats) };
    const version = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    const before = seen.get(file);
    const since = before?.version === version ? before.since : now;
    seen.set(file, { version, since });
    return { kind: 'file', unchangedFor: now - since, version, mtimeNs: stats.mtimeNs };
  }

  return {
    /** One entry that cannot be examined must not stop the others; if none can, the source is broken: rejects. */
    async observeAll(files: readonly string[], now: number): Promise<Map<string, Observation>> {
      const found = new Map<string, Observation>();
      let failures = 0;
      let failure: unknown;
      for (const file of files) {
        try {
          found.set(file, observe(file, await statOf(file), now));
        } catch (error) {
          failures += 1;
          failure = error;
          found.set(file, { kind: 'other', what: `unreadable: ${toError(error).message}` });
        }
      }
      if (failures > 0 && failures === files.length) throw failure;
      return found;
    },
    keepOnly(files: ReadonlySet<string>): void {
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

/** What is not a regular file, in one word. */
export function kindOf(stats: Kind): string {
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'pipe';
  if (stats.isSocket()) return 'socket';
  return 'device';
}

type Kind = Pick<BigIntStats, 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;
