import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { rateLimitOf } from '../../src/deliver/guards.ts';
import { readScript, runScript } from '../../src/redis/script.ts';
import { configOf, LEAST } from '../support/config-text.ts';
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

  it('lets a read of the list pass the orders that wait, and counts it', async () => {
    const config = configOf(
      LEAST.replace('{ baseUrl', '{ rateLimit: { max: 1, per: 1h }, baseUrl'),
    ).config;
    const time = { now: () => NOW / 1000, isSet: true };
    const limited = { ...store, time } as unknown as Parameters<typeof rateLimitOf>[0]['store'];
    const rate = rateLimitOf({ config, clock: systemClock, store: limited });
    const stop = new AbortController();
    expect(await rate.turn(stop.signal)).toBe('at once');
    const order = rate.turn(stop.signal);
    await expect
      .poll(() => store.redis.get(store.keys.rate))
      .toBe(String(NOW - 360e6 + 2 * 3600e6));
    await rate.takeFirst(stop.signal);
    expect(await store.redis.get(store.keys.rate)).toBe(String(NOW - 360e6 + 3 * 3600e6));
    stop.abort();
    expect(await order).toBe('stopped');
  });
});
