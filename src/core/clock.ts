import { uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** The source of time; tests and the simulation replace it. All values are milliseconds. */
export type Clock = {
  /** Wall clock, since 1970. For timestamps only, never for durations. */
  now(): number;
  /** Never jumps. For durations and deadlines within the process. */
  monotonic(): number;
  /** Since the machine started, also while it was suspended; to about 10 ms. */
  sinceBoot(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1000,
  sleep: async (ms, signal) => {
    if (signal?.aborted) return;
    await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
  },
};
