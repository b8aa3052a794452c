import { setTimeout as delay } from 'node:timers/promises';

/** Time as the program sees it; tests and the simulation bring their own. All values in milliseconds. */
export type Clock = {
  /** Wall clock, since 1970. For stamps only, never for durations. */
  now(): number;
  /** Never jumps; for durations and deadlines within the process. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    if (signal?.aborted) return;
    await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
  },
};
