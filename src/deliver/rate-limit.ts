import type { Clock } from '../core/clock.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';

export type RateLimit = {
  /** Resolves when it is the caller's turn, or when `signal` ends the wait. */
  turn(signal: AbortSignal): Promise<'at once' | 'waited' | 'stopped'>;
};

/** No limit: every turn is now. */
export const unlimited: RateLimit = { turn: async (signal) => (signal.aborted ? 'stopped' : 'at once') };

/**
 * At most `max` calls in `per` milliseconds, shared by all daemons and spread evenly:
 * a tenth of the window may come at once, so that small limits stay smooth.
 */
export function createRateLimit(
  { redis, keys, clock }: { redis: Redis; keys: Keys; clock: Clock },
  { max, per }: { max: number; per: number },
): RateLimit {
  const script = readScript(new URL('./rate.lua', import.meta.url));
  const interval = (per * 1000) / max;
  return {
    async turn(signal) {
      const wait = Number(await runScript(redis, script, [keys.rate], [interval, (per * 1000) / 10])) / 1000;
      if (wait > 0) await clock.sleep(wait, signal);
      if (signal.aborted) return 'stopped';
      return wait > 0 ? 'waited' : 'at once';
    },
  };
}
