import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { openHeartbeat } from '../../src/operate/heartbeat.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { createRedisTime } from '../../src/redis/time.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { until } from '../support/until.ts';

const STEP = 300_000;

describe('ledger time', () => {
  let store: OpenRedis;
  let steady = 0;
  let suspended = 0;
  let slept = 0;
  /** The clock of a machine that runs ahead of Redis' clock, or was suspended: Redis' clock seems to have a step. */
  const clock: Clock = {
    ...systemClock,
    monotonic: () => performance.now() + steady,
    sinceBoot: () => performance.now() + steady + suspended,
    sleep: (ms, signal) => {
      slept += ms;
      return systemClock.sleep(ms, signal);
    },
  };

  beforeEach(async () => {
    store = await openTestRedis();
    steady = 0;
    suspended = 0;
    slept = 0;
  });
  afterEach(() => store[Symbol.asyncDispose]());

  const open = (of: Redis = store.redis) => createRedisTime(of, store.keys, clock);

  async function redisClock(): Promise<number> {
    const [seconds, micros] = await store.redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }

  /** How much ledger time differs from being `ahead` of Redis' clock, at least: the time that the question takes does not count. */
  async function error(time: { now(): number }, ahead = 0): Promise<number> {
    const first = time.now();
    const there = (await redisClock()) + ahead;
    const last = time.now();
    return Math.max(first - there, there - last, 0);
  }

  const lastReading = async () => Number(await store.redis.hget(store.keys.identity, 'last'));

  /** An order waits for a time. */
  const busy = () => store.redis.zadd(store.keys.due, 1, 'PO-1');

  it("follows Redis' clock", async () => {
    expect(await error(await open())).toBeLessThan(500);
  });

  it('asks again when an answer took so long that it may be wrong', async () => {
    let left = 2;
    const evalsha = async (...args: Parameters<Redis['evalsha']>) => {
      const answer = await store.redis.evalsha(...args);
      if (left-- > 0) steady += 60_000;
      return answer;
    };
    const slow = Object.assign(Object.create(store.redis) as Redis, { evalsha });
    expect(await error(await open(slow))).toBeLessThan(500);
  });

  it('does not go ahead when the clock is set forward', async () => {
    await busy();
    const time = await open();
    steady -= STEP;
    await time.sync();
    expect(await error(time, -STEP)).toBeLessThan(500);
    // Others follow, also those that start later.
    expect(await error(await open(), -STEP)).toBeLessThan(500);
  });

  it('does not go back when the clock is set back', async () => {
    const before = (await redisClock()) + STEP;
    const began = performance.now();
    await store.redis.hset(store.keys.identity, { last: before });
    const time = await open();
    expect(time.now()).toBeGreaterThanOrEqual(Math.floor(before));
    expect(time.now()).toBeLessThan(before + 1_000 + performance.now() - began);
  });

  it('approaches a clock that was set back by a tenth of the time', async () => {
    await store.redis.hset(store.keys.identity, {
      last: (await redisClock()) - 100_000,
      shift: -STEP,
    });
    await open();
    const shift = Number(await store.redis.hget(store.keys.identity, 'shift'));
    expect(shift).toBeGreaterThan(-STEP + 39_000);
    expect(shift).toBeLessThan(-STEP + 42_000);
  });

  it('follows a clock that was set forward as soon as no order waits', async () => {
    await busy();
    const time = await open();
    steady -= STEP;
    await time.sync();
    await store.redis.del(store.keys.due);
    await time.sync();
    expect(await error(time)).toBeLessThan(500);
  });

  it('takes a step that two daemons see out once', async () => {
    await busy();
    const [first, second] = [await open(), await open()];
    steady -= STEP;
    await Promise.all([first.sync(), second.sync()]);
    expect(Number(await store.redis.hget(store.keys.identity, 'steps'))).toBe(1);
    await second.sync();
    expect(Math.abs(first.now() - second.now())).toBeLessThan(500);
  });

  it('begins after a step only when the daemon that runs has taken it out', async () => {
    await busy();
    const running = await open();
    await store.redis.zadd(store.keys.daemons, running.now(), 'running');
    steady -= STEP;
    // The step came after the last reading.
    await store.redis.hset(store.keys.identity, { last: running.now() });
    const beginning = open();
    await until('its first reading', async () => (await lastReading()) > running.now() + STEP / 2);
    await running.sync();
    expect(Math.abs((await beginning).now() - running.now())).toBeLessThan(500);
  });

  it('begins at once after a daemon that ended properly', async () => {
    await busy();
    const self = { pid: 1, version: '0' };
    {
      await using ended = openHeartbeat({
        ...store,
        isSteady: () => true,
        id: 'ended',
        self,
      });
      await ended.beat();
    }
    await store.redis.hset(store.keys.identity, { last: (await redisClock()) - STEP });
    await open();
    expect(slept).toBe(0);
  });

  it('counts the time that the machine was suspended', async () => {
    await busy();
    const time = await open();
    steady -= STEP;
    suspended += STEP;
    await time.sync();
    expect(await error(time)).toBeLessThan(500);
  });
});
