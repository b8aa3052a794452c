import { watch } from 'chokidar';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';

/** Something that is done again and again, sooner when there is a hint that it is worth it. */
export type Rounds = AsyncDisposable & {
  start(): void;
  /** One round now, or the one under way. */
  round(): Promise<void>;
  /** Asks for a round soon. */
  hint(): void;
  readonly isStopped: boolean;
};

/** Hints come in floods; between two rounds there is at least so much time, in milliseconds. */
const LEAST_GAP = 50;

/** `work` does one round, never rejects, and says after how many milliseconds the next is due at the latest. */
export function openRounds(clock: Clock, work: () => Promise<number>): Rounds {
  const stopped = new AbortController();
  let nudge = new AbortController();
  let loop: Promise<void> | undefined;
  let underWay: Promise<number> | undefined;

  function roundNow(): Promise<number> {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      nudge = new AbortController();
      const due = await roundNow();
      await clock.sleep(Math.min(LEAST_GAP, due), stopped.signal);
      await clock.sleep(Math.max(0, due - LEAST_GAP), AbortSignal.any([stopped.signal, nudge.signal]));
    }
  }

  return {
    start() {
      loop ??= run();
    },
    async round() {
      await roundNow();
    },
    hint: () => nudge.abort(),
    get isStopped() {
      return stopped.signal.aborted;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await loop;
      await underWay;
    },
  };
}

/**
 * Watches what lies directly in a folder and calls `onChange`. Only a hint: messages are dropped silently under load
 * and never come from network shares.
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
