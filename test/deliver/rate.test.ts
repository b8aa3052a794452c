import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readScript, runScript } from '../../src/redis/script.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

/** Ledger time in microseconds, far from Redis' own clock. */
const NOW = 1_000_000_000;
const INTERVAL = 200_000;
const BURST = 100_000;

describe('the rate limit', () => {
  let store: OpenRedis;
  beforeEach(async () => {
    store = await openTestRedis();
  });
  afterEach(() => store[Symbol.asyncDispose]());

  async function dueAt(now: number): Promise<number> {
    const script = readScript(new URL('../../src/deliver/rate.lua', import.meta.url));
    return Number(await runScript(store.redis, script, [store.keys.rate], [INTERVAL, BURST, now]));
  }

  it("counts in the caller's ledger time, so a step of Redis' clock neither delays a call nor lets one out early", async () => {
    expect([await dueAt(NOW), await dueAt(NOW), await dueAt(NOW)]).toEqual([
      NOW - BURST,
      NOW - BURST + INTERVAL,
      NOW - BURST + 2 * INTERVAL,
    ]);
  });

  it('saves up no more than the burst while nothing is sent', async () => {
    await dueAt(NOW);
    const later = NOW + 3_600_000_000;
    expect(await dueAt(later)).toBe(later - BURST);
    expect(await dueAt(later)).toBe(later - BURST + INTERVAL);
  });
});
