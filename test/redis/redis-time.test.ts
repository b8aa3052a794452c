import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { createRedisTime } from '../../src/redis/redis-time.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

describe('Redis time', () => {
  let store: OpenRedis;
  beforeEach(async () => {
    store = await openTestRedis();
  });
  afterEach(() => store[Symbol.asyncDispose]());

  /** A clock that goes on by `ms` while so many calls of TIME are under way: the process stood still. */
  function standingStill(ms: number, calls: number): { clock: Clock; redis: Redis } {
    let still = 0;
    let left = calls;
    const clock = { ...systemClock, monotonic: () => performance.now() + still };
    const time = async () => {
      const answer = await store.redis.time();
      if (left-- > 0) still += ms;
      return answer;
    };
    return { clock, redis: Object.assign(Object.create(store.redis) as Redis, { time }) };
  }

  async function trueTime(): Promise<number> {
    const [seconds, micros] = await store.redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }

  it("follows Redis' clock", async () => {
    const time = await createRedisTime(store.redis, systemClock);
    expect(Math.abs(time.now() - (await trueTime()))).toBeLessThan(500);
  });

  it('asks again when an answer took so long that it may be wrong', async () => {
    const { clock, redis } = standingStill(60_000, 2);
    const time = await createRedisTime(redis, clock);
    expect(Math.abs(time.now() - (await trueTime()))).toBeLessThan(500);
  });
});
