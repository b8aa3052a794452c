import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createRedisWatch } from '../../src/notify/redis-watch.ts';

it('each receiver gets one notice an outage, directly, when Redis is not reachable for a minute, and one when it is again', async () => {
  let now = 1_000_000;
  const redis = { status: 'ready' };
  const told: string[] = [];
  let isDeaf = true;
  const receiver = (name: string, on: 'attention' | 'paused', fails = () => false) => ({
    on: [on],
    way: {
      receiver: name,
      identity: name,
      send: async ({ kind }: { kind: string }) => {
        if (fails()) throw new Error('not now');
        told.push(`${name} ${kind}`);
      },
    },
  });
  const look = createRedisWatch({
    config: { environment: 'staging' },
    store: { redis: redis as never },
    clock: { ...systemClock, now: () => now, monotonic: () => now },
    receivers: [
      receiver('one', 'attention'),
      receiver('deaf', 'attention', () => isDeaf),
      receiver('other', 'paused'),
    ],
    signal: new AbortController().signal,
    onTrouble: () => undefined,
  });
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 1) {
      now += 1_000;
      await look();
    }
    return told.splice(0);
  };
  expect(await pass(5)).toEqual([]);
  redis.status = 'reconnecting';
  expect(await pass(60)).toEqual([]);
  expect(await pass(5)).toEqual(['one redis-away']);
  isDeaf = false;
  expect(await pass(200)).toEqual(['deaf redis-away']);
  redis.status = 'ready';
  expect((await pass(5)).toSorted()).toEqual(['deaf redis-back', 'one redis-back']);
  redis.status = 'reconnecting';
  expect(await pass(30)).toEqual([]);
  redis.status = 'ready';
  expect(await pass(5)).toEqual([]);
});
