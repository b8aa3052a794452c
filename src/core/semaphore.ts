import type { Clock } from './clock.ts';

/** A fair, weighted semaphore: tasks run in the order in which they ask, and a lighter task never overtakes a heavy one. */
export type Semaphore = {
  /**
   * Runs the task once `weight` units are free (default 1). The task may release its units before it ends.
   * A task heavier than the capacity runs when no other task does.
   */
  hold<T>(task: (release: () => void) => Promise<T>, weight?: number): Promise<T>;
};

/** Builds a semaphore with `capacity` units; where it varies, it is asked when a task asks or ends. */
export function createSemaphore(capacity: number | (() => number)): Semaphore {
  const units = typeof capacity === 'number' ? () => capacity : capacity;
  let used = 0;
  const waiting: { weight: number; enter: () => void }[] = [];

  function admit(): void {
    for (let first = waiting[0]; first && fits(first.weight); first = waiting[0]) {
      waiting.shift();
      used += first.weight;
      first.enter();
    }
  }

  function fits(weight: number): boolean {
    return used === 0 || used + weight <= units();
  }

  return {
    async hold(task, weight = 1) {
      await new Promise<void>((resolve) => {
        waiting.push({ weight, enter: resolve });
        admit();
      });
      let isHeld = true;
      const release = () => {
        if (!isHeld) return;
        isHeld = false;
        used -= weight;
        admit();
      };
      try {
        return await task(release);
      } finally {
        release();
      }
    },
  };
}

/** What the task gives, or undefined if the semaphore has no room for it within `ms` milliseconds: then it never runs. */
export async function holdWithin<T>(
  ms: number,
  semaphore: Semaphore,
  task: () => Promise<T>,
  clock: Clock,
): Promise<T | undefined> {
  const begun = Promise.withResolvers<true>();
  let isLate = false;
  const done = semaphore.hold(async () => {
    if (isLate) return undefined;
    begun.resolve(true);
    return task();
  });
  isLate = (await within(ms, begun.promise, clock)) === undefined;
  return isLate ? undefined : done;
}

/** A task that is never run twice at a time: whoever asks while it runs shares its result. */
export function oneAtATime<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** What the task gives, or undefined if it takes longer than `ms` milliseconds or the signal aborts first. */
export async function within<T>(ms: number, task: Promise<T>, clock: Clock, signal?: AbortSignal) {
  const over = new AbortController();
  const stop = () => over.abort();
  signal?.addEventListener('abort', stop);
  // It may fail after nobody waits for it any more.
  task.catch(() => undefined);
  try {
    return await Promise.race([task, clock.sleep(ms, over.signal).then(() => undefined)]);
  } finally {
    signal?.removeEventListener('abort', stop);
    // The process does not wait for the timer.
    stop();
  }
}
