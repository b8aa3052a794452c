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
    const args = [INTERVAL, BURST, now, 0];
    const [due] = (await runScript(store.redis, script, [store.keys.rate], args)) as [string];
    return Number(due);
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

  it('lets a read of the list pass an order that waits, which then waits for one interval more', async () => {
    const config = configOf(
      LEAST.replace('{ baseUrl', '{ rateLimit: { max: 1, per: 10s }, baseUrl'),
    ).config;
    let now = NOW / 1000;
    let wake: (() => void) | undefined;
    const clock = {
      ...systemClock,
      monotonic: () => now,
      sleep: () => new Promise<void>((resolve) => (wake = resolve)),
    };
    const time = { now: () => now, isSet: true };
    const limited = { ...store, time } as unknown as Parameters<typeof rateLimitOf>[0]['store'];
    const rate = rateLimitOf({ config, clock, store: limited });
    /** Lets the order look at the time once more. */
    async function pass(ms: number): Promise<void> {
      await expect.poll(() => wake).toBeDefined();
      now += ms;
      const sleeper = wake;
      wake = undefined;
      sleeper?.();
    }

    const { signal } = new AbortController();
    expect(await rate.turn(signal)).toBe('at once');
    const order = rate.turn(signal).then(() => now);
    await pass(0);
    await rate.takeFirst(signal);
    await pass(9_000);
    await pass(10_000);
    expect(await order).toBe(NOW / 1000 + 19_000);
  });
});
