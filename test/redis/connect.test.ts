import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { connectRedis, createRedisTime, type Redis } from '../../src/redis/connect.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

let server: TestRedis;
let admin: Redis;

beforeAll(async () => {
  server = await startTestRedis();
  admin = await connectRedis(server.url, { plain: true });
});

afterAll(async () => {
  await admin.quit();
  await server[Symbol.asyncDispose]();
});

const probe = '{posync:test}:probe';

describe('a Redis that becomes a replica', () => {
  it('makes a write wait until it is a primary again, and is reported once', async () => {
    const troubles: string[] = [];
    const redis = await connectRedis(server.url, { probe, onTrouble: ({ message }) => troubles.push(message) });
    await admin.replicaof('127.0.0.1', 1);
    const written = redis.eval("return redis.call('SET', KEYS[1], 'kept')", 1, 'a-key');
    await until('the refusal was seen', () => troubles.length > 0);
    await admin.replicaof('NO', 'ONE');
    expect(await written).toBe('OK');
    expect(await redis.get('a-key')).toBe('kept');
    expect(troubles).toEqual([expect.stringContaining('READONLY')]);
    await redis.quit();
  });

  it('ends the start with redis-read-only', async () => {
    await admin.replicaof('127.0.0.1', 1);
    try {
      await expect(connectRedis(server.url, { probe, within: 400 })).rejects.toMatchObject({
        code: 'redis-read-only',
        remedy: 'Set redis.url to the primary.',
      });
    } finally {
      await admin.replicaof('NO', 'ONE');
    }
  });
});

it('a user who may not write ends the start with redis-refused, and no part of the password is shown', async () => {
  await admin.call('ACL', 'SETUSER', 'reader', 'on', '>p@ss@word', '~*', '+@read', '+@connection', '+info');
  const url = server.url.replace('//', '//reader:p@ss@word@');
  const refused = await connectRedis(url, { probe }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'redis-refused', message: expect.stringContaining('NOPERM') });
  expect(String(refused)).not.toContain('ss@word');
});

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
