import path from 'node:path';
import { watch } from 'chokidar';
import type { Source } from '../config/config.ts';
import { createLoop } from '../core/backoff/loop.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import {
  fileIncomplete,
  fileLeft,
  sourceBack,
  sourceLost,
  watcherFailed,
} from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import type { Sentence } from '../order/sentence.ts';
import { createOffers, type NotTaken, notTaken } from './offers.ts';
import { createStability, type ReadyFile, type WhatLacks } from './stability.ts';

/** Watches one source for finished files. */
export type Watch = AsyncDisposable & {
  source: Source;
  start(): Promise<void>;
  /** Checks all files once and offers those that are ready. Never rejects. */
  tick(): Promise<void>;
  /**
   * Resolves when every file that is present now was handed over, which takes at least `stable`, or could not be for some
   * seconds: with these. PoSyncError `folder-…` when the source cannot be read.
   */
  settleOnce(): Promise<NotTaken[]>;
  /** The files that could not be handed over for some time, and were reported; or the source, when it cannot be read for some time. */
  notTaken(): NotTaken[];
  /** Whether the last check could read the source. */
  healthy(): boolean;
};

export type WatchDeps = {
  source: Source;
  clock: Clock;
  log: Log;
  /** Absent: every file is complete. */
  lacks?: WhatLacks | undefined;
  /** The folder to watch for file-system events. */
  folder: string;
  /** Returns the paths that intake handles. */
  list: () => Promise<string[]>;
  /** Receives ready files one at a time, the oldest first, and again later when it rejects. */
  onReady: (file: ReadyFile) => Promise<void>;
};

/** Files that are not ready are checked again after this share of `stable`, but at the earliest after `FINEST` ms. */
const SHARE = 1 / 4;
const FINEST = 20;

/** Creates a watch that checks every `poll`; file-system events only make it faster. */
export function openWatch({ source, clock, log, lacks, folder, list, onReady }: WatchDeps): Watch {
  const stability = createStability(source.stable);
  const completeness = createCompleteness(lacks);
  const offers = createOffers(source.name, clock, log, onReady);
  const loop = createLoop(clock, round);
  const reports = createReports(source, log);
  const health = createSourceHealth(source, source.path, clock, log);
  const hints = new AsyncDisposableStack();
  const soon = Math.min(source.poll, Math.max(FINEST, source.stable * SHARE));
  let [unfinished, firstIn]: [ReadonlySet<string>, number] = [new Set(), Number.POSITIVE_INFINITY];

  async function round(): Promise<number> {
    try {
      unfinished = await check();
      health.recover();
    } catch (error) {
      health.fail(toError(error));
    }
    return unfinished.size === 0 ? source.poll : Math.min(soon, firstIn + 1); // A timer can fire slightly early.
  }

  /** Checks all files once; returns those that must be offered again. */
  async function check(): Promise<Set<string>> {
    const files = await list();
    for (const memory of [offers, reports, completeness]) memory.keepOnly(new Set(files));
    const found = await stability.check(files, clock.monotonic());
    firstIn = found.firstIn;
    found.others.forEach(reports.left);
    const kept = new Set(found.waiting);
    for (const one of found.ready) {
      const lacking = loop.isStopped ? undefined : await completeness.lacks(one);
      if (loop.isStopped) break;
      const isTaken =
        (lacking === undefined || one.isLate) && (await offers.offer(one)) === 'handed over';
      if (!isTaken) kept.add(one.file);
      else if (lacking !== undefined) reports.incomplete(one, lacking);
    }
    return kept;
  }

  return {
    source,
    async start() {
      hints.use(
        watchFolder(folder, loop.hint, (reason) =>
          watcherFailed(log, { source: source.name, reason }),
        ),
      );
      loop.start();
    },
    tick: () => loop.round(),
    async settleOnce() {
      const present = await list();
      const files = () => (mayBeReplaced(source) ? [...unfinished] : present);
      const isAnyLeft = () =>
        files().some((file) => unfinished.has(file) && offers.refused([file]).length === 0);
      for (await loop.round(); !loop.isStopped && isAnyLeft(); await loop.round())
        await clock.sleep(soon);
      return offers.refused(files());
    },
    notTaken: () => health.lasting() ?? offers.troubles(),
    healthy: () => health.failure() === undefined,
    async [Symbol.asyncDispose]() {
      await hints.disposeAsync();
      await loop[Symbol.asyncDispose]();
    },
  };
}

/** With `newestOnly`, a newer file that comes meanwhile takes the place of the one that was waited for. */
const mayBeReplaced = (source: Source) => source.type === 'export' && source.newestOnly;

/** Milliseconds between two failed checks after which a source is lost. */
const LOST_AFTER = 3_000;

/** Looks once at each version of a file. */
function createCompleteness(lacks: WhatLacks = async () => undefined) {
  const found = new Map<string, { version: string; lacking: Sentence | undefined }>();
  return {
    async lacks({ file, version }: ReadyFile): Promise<Sentence | undefined> {
      const known = found.get(file);
      if (known?.version === version) return known.lacking;
      const lacking = await lacks(file);
      found.set(file, { version, lacking });
      return lacking;
    },
    keepOnly(files: ReadonlySet<string>): void {
      for (const file of found.keys()) if (!files.has(file)) found.delete(file);
    },
  };
}

/** Logs each remarkable file once, as long as it is there. */
function createReports({ name: source }: Source, log: Log) {
  const left = new Set<string>();
  const incomplete = new Map<string, string>();
  return {
    left({ file, kind }: { file: string; kind: string }): void {
      if (left.has(file)) return;
      left.add(file);
      fileLeft(log, { source, file: path.basename(file), kind });
    },
    incomplete({ file, version }: ReadyFile, reason: Sentence): void {
      if (incomplete.get(file) === version) return;
      incomplete.set(file, version);
      fileIncomplete(log, { source, file: path.basename(file), reason });
    },
    keepOnly(files: ReadonlySet<string>): void {
      for (const file of left) if (!files.has(file)) left.delete(file);
      for (const file of incomplete.keys()) if (!files.has(file)) incomplete.delete(file);
    },
  };
}

/**
 * Logs when a source becomes unreachable, when the reason changes, at growing intervals, and when it is back. `place` is its
 * path as logged.
 */
export function createSourceHealth(
  { name: source }: Source,
  place: string,
  clock: Clock,
  log: Log,
) {
  let lost:
    | { since: number; last: number; error: Error; logged: { at: number; reason: string } }
    | undefined;
  return {
    fail(error: Error): void {
      const at = clock.monotonic();
      const { since = at, logged } = lost ?? {};
      // Each line is at least as long after the last one as that was after the first.
      const isDue = logged === undefined || at - logged.at >= logged.at - since;
      const isNew = isDue && logged?.reason !== error.message;
      if (isNew) sourceLost(log, { source, path: place, reason: error.message });
      lost = {
        since,
        last: at,
        error,
        logged: logged && !isNew ? logged : { at, reason: error.message },
      };
    },
    recover(): void {
      if (lost === undefined) return;
      sourceBack(log, { source, path: place, durationMs: clock.monotonic() - lost.since });
      lost = undefined;
    },
    /** The last failure; undefined while the source is reachable. */
    failure: (): Error | undefined => lost?.error,
    /** The same once checks have failed for some seconds: a share may not answer one of them. */
    lasting: (): NotTaken[] | undefined =>
      lost && lost.last - lost.since >= LOST_AFTER ? [notTaken(source, lost.error)] : undefined,
  };
}

/**
 * Watches the direct entries of a folder and calls `onChange`. Events are hints only: they are dropped silently under
 * load and never arrive from network shares.
 */
function watchFolder(
  folder: string,
  onChange: () => void,
  onFailure: (reason: string) => void,
): AsyncDisposable {
  const options = {
    depth: 0,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    followSymlinks: false,
  };
  const watcher = watch(folder, options);
  watcher.on('all', onChange);
  watcher.on('error', (error) => onFailure(toError(error).message));
  return { [Symbol.asyncDispose]: () => watcher.close() };
}
