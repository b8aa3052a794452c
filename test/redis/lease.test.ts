import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { takeLease } from '../../src/redis/lease.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

const KEY = '{posync:test}:lease';

let redis: Redis;
beforeEach(async () => {
  redis = await connectRedis(await openDatabase());
});
afterEach(() => redis.disconnect());

/** True once the rest of the lease has grown `times` times. */
function renewals(times: number): () => Promise<boolean> {
  let rest = Number.POSITIVE_INFINITY;
  let seen = 0;
  return async () => {
    const now = await redis.pttl(KEY);
    if (now > rest) seen += 1;
    rest = now;
    return seen >= times;
  };
}

it('a lease has one owner at a time', async () => {
  const lease = await takeLease(redis, KEY, 'first', 10_000);
  expect(await takeLease(redis, KEY, 'second', 10_000)).toBeUndefined();
  await lease?.release();
  const next = await takeLease(redis, KEY, 'second', 10_000);
  expect(next).toBeDefined();
  await next?.release();
});

it('a lease is renewed for as long as its owner keeps it', async () => {
  const lease = await takeLease(redis, KEY, 'first', 3_000);
  await until('a second renewal', renewals(2));
  expect(await redis.get(KEY)).toMatch(/^first /);
  expect(lease?.signal.aborted).toBe(false);
  await lease?.release();
  expect(await redis.exists(KEY)).toBe(0);
});

it('a lease that another owner took meanwhile is reported as lost, and its release leaves the other one alone', async () => {
  const lease = await takeLease(redis, KEY, 'first', 300);
  await redis.set(KEY, 'second');
  await until('the loss', () => lease?.signal.aborted);
  await lease?.release();
  expect(await redis.get(KEY)).toBe('second');
});

it('a second task of one owner does not share a lease: the one whose lease expired has lost it', async () => {
  const first = await takeLease(redis, KEY, 'daemon', 300);
  await redis.del(KEY);
  const second = await takeLease(redis, KEY, 'daemon', 10_000);
  await expect(first?.fence()).rejects.toMatchObject({ code: 'lease-lost' });
  await until('the loss', () => first?.signal.aborted);
  await first?.release();
  await second?.fence();
  expect(second?.signal.aborted).toBe(false);
  await second?.release();
  expect(await redis.exists(KEY)).toBe(0);
});

it('a lease that cannot be renewed is lost when it expires, although Redis does not say so', async () => {
  await using server = await startTestRedis();
  const connection = await connectRedis(server.url);
  try {
    const lease = await takeLease(connection, KEY, 'first', 300);
    server.freeze();
    await until('the loss', () => lease?.signal.aborted);
    server.thaw();
    await expect(lease?.fence()).rejects.toMatchObject({ code: 'lease-lost' });
    await lease?.release();
  } finally {
    connection.disconnect();
  }
});

it("a lease whose owner is gone does not last longer after a step back of Redis' clock", async () => {
  // What a step of five minutes leaves behind.
  await redis.set(KEY, 'gone', 'PX', 300_000);
  expect(await takeLease(redis, KEY, 'next', 100)).toBeUndefined();
  expect(await redis.pttl(KEY)).toBeLessThanOrEqual(100);
  const lease = await until(
    'the lease',
    async () => (await takeLease(redis, KEY, 'next', 100)) ?? false,
  );
  await lease.release();
});
