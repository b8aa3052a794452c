import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { codeOf } from '../core/errors.ts';
import { whyIncomplete } from './looks-complete.ts';

/**
 * A file that is finished. `version` is another whenever its content may be another; `incomplete` says why it may not
 * be whole all the same.
 */
export type ReadyFile = { file: string; version: string; incomplete?: string };

/** What became of a look at some files. */
export type Looked = {
  /** Whole, or waited for long enough; the oldest first. */
  ready: ReadyFile[];
  /** Still changing, or not whole yet. */
  waiting: string[];
  /** Milliseconds until the first of them will have been unchanged for long enough, if it stays so. */
  firstIn: number;
  /** No regular files. */
  others: { file: string; kind: string }[];
};

export type Readiness = {
  look(files: readonly string[], now: number): Promise<Looked>;
};

/** How many times `stable` a file that does not look whole is waited for. */
const PATIENCE = 10;

/**
 * Tells which files are finished: not changed for `stable` ms by our own watching (whatever their times say, also for
 * those that were there first), and whole by their look.
 */
export function createReadiness(stable: number): Readiness {
  const sightings = createSightings();
  const wholeness = new Map<string, string | undefined>();

  /** A file's look is taken once for as long as it does not change. */
  async function incompleteness(file: string, unchangedFor: number): Promise<string | undefined> {
    if (!wholeness.has(file)) wholeness.set(file, await lookInto(file));
    return unchangedFor < PATIENCE * stable ? wholeness.get(file) : undefined;
  }

  return {
    async look(files, now) {
      const waiting: string[] = [];
      let firstIn = Number.POSITIVE_INFINITY;
      const others: Looked['others'] = [];
      const ready: (ReadyFile & { mtimeNs: bigint })[] = [];
      forgetOthers(new Set(files));
      for (const file of files) {
        const sight = await sightings.look(file, now);
        if (sight.kind === 'gone') continue;
        if (sight.kind === 'other') {
          others.push({ file, kind: sight.what });
          continue;
        }
        const { unchangedFor, version, mtimeNs } = sight;
        if (unchangedFor === 0) wholeness.delete(file);
        const isWaiting = unchangedFor < stable || (await incompleteness(file, unchangedFor)) !== undefined;
        if (unchangedFor < stable) firstIn = Math.min(firstIn, stable - unchangedFor);
        if (isWaiting) waiting.push(file);
        else ready.push({ file, version, mtimeNs, ...reasonOf(wholeness.get(file)) });
      }
      return { ready: ready.sort(byAge), waiting, firstIn, others };
    },
  };

  function forgetOthers(files: ReadonlySet<string>): void {
    sightings.keepOnly(files);
    for (const file of wholeness.keys()) if (!files.has(file)) wholeness.delete(file);
  }
}

function reasonOf(incomplete: string | undefined): { incomplete?: string } {
  return incomplete === undefined ? {} : { incomplete };
}

/** A file that cannot be looked into yet is not whole yet: it may be locked by its writer. */
async function lookInto(file: string): Promise<string | undefined> {
  try {
    return await whyIncomplete(file);
  } catch (error) {
    return `it cannot be opened (${codeOf(error) ?? 'unknown error'})`;
  }
}

function byAge(a: { file: string; mtimeNs: bigint }, b: { file: string; mtimeNs: bigint }): number {
  if (a.mtimeNs !== b.mtimeNs) return a.mtimeNs < b.mtimeNs ? -1 : 1;
  return a.file < b.file ? -1 : 1;
}

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
