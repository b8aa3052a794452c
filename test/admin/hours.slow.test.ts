import { expect, it } from 'vitest';
import { createHours, HOUR } from '../../src/admin/picture/hours.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Meter } from '../../src/log/meter.ts';
import { openTestRedis } from '../support/open-redis.ts';

it('adds up by the hour what all daemons counted', async () => {
  await using open = await openTestRedis();
  let now = Math.floor(Date.now() / HOUR) * HOUR;
  const store = { ...open, time: { ...open.time, now: () => now } };
  const meter = new Proxy({} as Meter, { get: () => () => undefined, ownKeys: () => [] });
  const [one, other] = [createHours(store), createHours(store)];
  const [first, second] = [one.counted(meter), other.counted(meter)];
  first.settled('b', 'accepted', 30);
  second.settled('b', 'accepted', 20);
  second.settled('b', 'refused', 5);
  second.settled('b', 'duplicate', 1_000);
  for (let ms = 1; ms <= 100; ms += 1) first.request('create', 201, ms);
  first.request('create', undefined, 9_000);
  first.request('list', 200, 9_000);
  now += HOUR;
  second.settled('b', 'accepted', 1);
  for (const hours of [one, other]) {
    // What is counted is stored at the end, too.
    await hours
      .record(systemClock, (error) => expect(error).toBeUndefined())
      [Symbol.asyncDispose]();
  }
  const shown = await one.last(3);
  expect(shown).toMatchObject([
    { at: now - 2 * HOUR, accepted: 0, needPerson: 0 },
    { at: now - HOUR, accepted: 50, needPerson: 5 },
    { at: now, accepted: 1, needPerson: 0 },
  ]);
  const [, { median = 0, slowest = 0 } = {}] = shown;
  expect([median >= 50 && median <= 55, slowest >= 95 && slowest <= 105]).toEqual([true, true]);
  expect(await open.redis.ttl(open.keys.hour(now))).toBeGreaterThan(7 * 24 * 3_600);
});
