import path from 'node:path';
import { watch } from 'chokidar';
import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { createLoop } from '../core/loop.ts';
import { fileIncomplete, fileLeft, sourceBack, sourceLost, watcherFailed } from '../events/intake.ts';
import type { Log } from '../log/log.ts';
import { createOffers } from './offers.ts';
import { createReadiness, type ReadyFile } from './stability.ts';

/** Watches one source for finished files. */
export type Watch = AsyncDisposable & {
  start(): Promise<void>;
  /** Looks once at everything and offers what is finished. Never rejects. */
  tick(): Promise<void>;
  /**
   * Resolves when every file that is there now was offered, which takes at least `stable`. PoSyncError `folder-…`
   * when the source cannot be looked at.
   */
  settleOnce(): Promise<void>;
  /** Whether the last look at the source worked. */
  healthy(): boolean;
};

export type WatchDeps = {
  source: Source;
  clock: Clock;
  log: Log;
  /** The folder whose change messages are worth a look. */
  folder: string;
  /** The paths that may be taken. */
  list: () => Promise<string[]>;
  /** Gets finished files, one after the other, the oldest first, and again later when it rejects. */
  onReady: (file: ReadyFile) => Promise<void>;
};

/** Files that are not finished are looked at again after this share of `stable`, but not sooner than `FINEST` ms. */
const SHARE = 1 / 4;
const FINEST = 20;

/** A watch looks every `poll`; the system's change messages only make it quicker. */
export function openWatch({ source, clock, log, folder, list, onReady }: WatchDeps): Watch {
  const readiness = createReadiness(source.stable);
  const offers = createOffers(source.name, clock, log, onReady);
  const rounds = createLoop(clock, round);
  const told = new Set<string>();
  const hints = new AsyncDisposableStack();
  const soon = Math.min(source.poll, Math.max(FINEST, source.stable * SHARE));
  let lostSince: number | undefined;
  let unfinished: ReadonlySet<string> = new Set();
  let firstIn = Number.POSITIVE_INFINITY;

  async function round(): Promise<number> {
    try {
      unfinished = await look();
      found();
    } catch (error) {
      lost(toError(error).message);
    }
    // A timer may come a moment early.
    return unfinished.size === 0 ? source.poll : Math.min(soon, firstIn + 1);
  }

  /** One look; returns the files that are still to be offered. */
  async function look(): Promise<Set<string>> {
    const files = await list();
    offers.keepOnly(new Set(files));
    const { ready, waiting, others, ...look } = await readiness.look(files, clock.monotonic());
    firstIn = look.firstIn;
    for (const { file, kind } of others) {
      tellOnce(file, () => fileLeft(log, { source: source.name, file: path.basename(file), kind }));
    }
    const kept = new Set(waiting);
    for (const one of ready) {
      if (rounds.isStopped) break;
      tellIncomplete(one);
      if ((await offers.offer(one)) === 'kept') kept.add(one.file);
    }
    return kept;
  }

  function tellIncomplete({ file, version, incomplete }: ReadyFile): void {
    if (incomplete === undefined) return;
    const facts = { source: source.name, file: path.basename(file), reason: incomplete };
    tellOnce(`${file}\n${version}`, () => fileIncomplete(log, facts));
  }

  function tellOnce(about: string, tell: () => void): void {
    if (told.has(about)) return;
    if (told.size >= REMEMBERED) told.clear();
    told.add(about);
    tell();
  }

  function lost(reason: string): void {
    if (lostSince === undefined) sourceLost(log, { source: source.name, path: source.path, reason });
    lostSince ??= clock.monotonic();
  }

  function found(): void {
    if (lostSince === undefined) return;
    sourceBack(log, { source: source.name, path: source.path, durationMs: clock.monotonic() - lostSince });
    lostSince = undefined;
  }

  return {
    async start() {
      const onFailure = (reason: string) => watcherFailed(log, { source: source.name, reason });
      hints.use(watchFolder(folder, () => rounds.hint(), onFailure));
      rounds.start();
    },
    tick: () => rounds.round(),
    async settleOnce() {
      const present = await list();
      await rounds.round();
      while (!rounds.isStopped && present.some((file) => unfinished.has(file))) {
        await clock.sleep(soon);
        await rounds.round();
      }
    },
    healthy: () => lostSince === undefined,
    async [Symbol.asyncDispose]() {
      await hints.disposeAsync();
      await rounds[Symbol.asyncDispose]();
    },
  };
}

/** Things told once are remembered up to this number. */
const REMEMBERED = 10_000;

/**
 * Calls `onChange` when something directly in a folder changes. Only a hint: the system drops notifications silently
 * under load and sends none for network shares.
 */
export function watchFolder(
  folder: string,
  onChange: () => void,
  onFailure: (reason: string) => void,
): AsyncDisposable {
  const watcher = watch(folder, { depth: 0, ignoreInitial: true, ignorePermissionErrors: true });
  watcher.on('all', onChange);
  watcher.on('error', (error) => onFailure(toError(error).message));
  return { [Symbol.asyncDispose]: () => watcher.close() };
}
