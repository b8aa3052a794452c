import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../support/fake-clock.ts';
import { openOddApi } from '../support/odd-api.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { createsOf, csv, numbered, openTroublePlace, times } from './trouble-place.ts';

const PACE =
  'settle: 1s, timeout: 20s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';

describe.concurrent("steps of Redis' clock", () => {
  it.each([
    ['forward', 300],
    ['back', -300],
  ])(
    'a step of five minutes %s while a call is in flight sends no order twice and delays none',
    async (_, seconds) => {
      await using folder = await makeTempFolder();
      const clock = await createFakeClock(folder.path);
      await using redis = await startTestRedis({ env: clock.env });
      // One call takes eight seconds, and is stored at its end; another one's connection drops.
      await using api = await openOddApi(({ endpoint, order, attempt }) => {
        if (endpoint !== 'create') return undefined;
        if (order?.purchaseOrderNumber === 'PO-1') return { after: 8_000 };
        return order?.purchaseOrderNumber === 'PO-2' && attempt === 1
          ? { drop: true, after: 1_000 }
          : undefined;
      });
      await using place = await openTroublePlace(api, {
        pace: PACE,
        redis: redis.url,
      });
      await place.drop('orders.csv', csv(numbered(3)));
      await until('the calls', () => createsOf(api, 'PO-1') === 1 && createsOf(api, 'PO-2') === 1);
      await clock.set(seconds);
      // Its deadline is far below the step.
      const outcomes = await place.settled(numbered(3));
      expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
      expect(numbered(3).map((number) => times(api, number))).toEqual([1, 1, 1]);
      expect(createsOf(api, 'PO-1')).toBe(1);
    },
  );

  it.each([
    ['back', -3_600],
    ['forward', 3_600],
  ])(
    'a step of an hour %s under a rate limit delays no call and lets no call out early',
    async (_, seconds) => {
      await using folder = await makeTempFolder();
      const clock = await createFakeClock(folder.path);
      await using redis = await startTestRedis({ env: clock.env });
      await using api = await openOddApi();
      await using place = await openTroublePlace(api, {
        environment: 'rateLimit: { max: 5, per: 1s }',
        redis: redis.url,
      });
      const dropped = performance.now();
      await place.drop('orders.csv', csv(numbered(20)));
      await until('some calls', () => api.stored.length > 4);
      await clock.set(seconds);
      expect(new Set(Object.values(await place.settled(numbered(20))))).toEqual(
        new Set(['accepted']),
      );
      const [last = 0] = api.calls
        .filter(({ endpoint }) => endpoint === 'create')
        .map(({ at }) => at)
        .slice(-1);
      // Each of twenty calls takes a fifth of a second. A step is measured as exactly as Redis
      // answers; taken for time that passed, it would let out all calls after it at once.
      expect(last - dropped).toBeGreaterThan((19 * 200) / 2);
    },
  );

  it('a step of an hour back while the token endpoint fails delays no request for a token', async () => {
    await using folder = await makeTempFolder();
    const clock = await createFakeClock(folder.path);
    await using redis = await startTestRedis({ env: clock.env });
    let isUp = false;
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'token' && !isUp ? { status: 503, body: 'down' } : undefined,
    );
    await using place = await openTroublePlace(api, { redis: redis.url });
    await place.drop('orders.csv', csv(['PO-1']));
    const connection = new Redis(redis.url);
    await until('a failure just now', async () => {
      const [failure] = await connection.keys('*:token:failure');
      return failure !== undefined && (await connection.pttl(failure)) > 500;
    });
    connection.disconnect();
    await clock.set(-3_600);
    isUp = true;
    expect(await place.settled(['PO-1'])).toEqual({ 'PO-1': 'accepted' });
  });
});
