import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { openOddApi } from '../support/odd-api.ts';
import { openRedisWay, takeOver } from '../support/redis-way.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace, type TroublePlace } from './trouble-place.ts';

/** The order numbers of the calls, as they were sent. */
const sent = (calls: readonly { endpoint: string; order?: string }[]) =>
  calls.flatMap(({ endpoint, order }) =>
    endpoint === 'create' && order !== undefined ? [order] : [],
  );

/** Flushes Redis; resolves when the daemon has noticed. `over` resolves when the API's list is in the new ledger. */
async function flush(place: TroublePlace) {
  const redis = new Redis(place.redis?.url ?? '');
  const pending = async () => (await redis.keys('*:rebuild')).length > 0;
  await redis.flushall();
  await until('the request for the list', pending);
  return {
    over: () => until('the list', async () => !(await pending())),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}

describe.concurrent('after Redis was flushed', () => {
  it('an order of a new file that the API has already is a duplicate, not accepted', async () => {
    await using api = await openOddApi();
    await using place = await openTroublePlace(api);
    await place.drop('first.csv', csv(['PO-1']));
    await place.settled(['PO-1']);
    const other = {
      purchaseOrderNumber: 'OTHER-1',
      orderState: 'NEW',
      items: [{ articleCode: 'ART-1', quantity: 1 }],
    };
    api.stored.push(other);
    await using flushed = await flush(place);
    await place.drop('second.csv', csv(['PO-1', 'OTHER-1', 'PO-2']));
    await flushed.over();
    await until('the report', () => place.outcomeIn('second.csv', 'PO-2'));
    expect(
      await Promise.all(
        ['PO-1', 'OTHER-1', 'PO-2'].map((number) => place.outcomeIn('second.csv', number)),
      ),
    ).toEqual(['duplicate', 'duplicate', 'accepted']);
    expect(sent(api.calls)).toEqual(['PO-1', 'PO-2']);
  });

  it('an order whose number the API rewrites is not sent again: it waits for a person', async () => {
    await using api = await openOddApi(({ endpoint, order }, { stored }) => {
      if (endpoint !== 'create' || order === undefined) return undefined;
      const purchaseOrderNumber = order.purchaseOrderNumber.toUpperCase().replace(/^0+/, '');
      stored.push({ ...order, purchaseOrderNumber });
      const data = { purchaseOrderNumber, orderState: 'NEW' };
      return { status: 201, body: { status: 'success', data, error: null }, store: false };
    });
    await using place = await openTroublePlace(api);
    const numbers = ['po-1', '007', 'PO-2'];
    await place.drop('first.csv', csv(numbers));
    await place.settled(numbers);
    await using flushed = await flush(place);
    await flushed.over();
    await place.drop('second.csv', csv(numbers));
    await until('the report', () => place.outcomeIn('second.csv', 'PO-2'));
    expect(sent(api.calls).sort()).toEqual([...numbers].sort());
    expect(
      await Promise.all(numbers.map((number) => place.outcomeIn('second.csv', number))),
    ).toEqual(['conflict', 'conflict', 'duplicate']);
  });
});

it.concurrent('while a Redis fails over again and again nothing is sent, and the orders that wait are sent when it lasts', async () => {
  await using api = await openOddApi();
  await using redis = await startTestRedis();
  await using way = await openRedisWay(redis.port);
  await using admin = openAdmin(redis);
  await using place = await openTroublePlace(api, { redis: way.url, pace: QUICK });
  await until('the daemon', () => place.daemon.out().includes('daemon ready'));
  const lose = async () => {
    way.cut();
    await takeOver(admin);
    way.open();
  };
  await lose();
  const breaking = setInterval(() => void lose(), 2_000);
  await using _ = { [Symbol.asyncDispose]: async () => clearInterval(breaking) };
  await place.drop('orders.csv', csv(['PO-1']));
  await until('the reason', async () => (await place.status()).waits[0]?.code === 'redis');
  expect(sent(api.calls)).toEqual([]);
  clearInterval(breaking);
  await place.settled(['PO-1']);
  expect(sent(api.calls)).toEqual(['PO-1']);
});

it.concurrent('orders are sent while the connections to Redis are lost every two seconds', async () => {
  await using api = await openOddApi();
  await using redis = await startTestRedis();
  await using way = await openRedisWay(redis.port);
  await using place = await openTroublePlace(api, { redis: way.url, pace: QUICK });
  await until('the daemon', () => place.daemon.out().includes('daemon ready'));
  let losses = 0;
  const lose = () => {
    way.cut();
    way.open();
    losses += 1;
  };
  lose();
  const breaking = setInterval(lose, 2_000);
  await using _ = { [Symbol.asyncDispose]: async () => clearInterval(breaking) };
  const numbers = numbered(40);
  await place.drop('first.csv', csv(numbers.slice(0, 20)));
  await until('some losses', () => losses > 4);
  await place.drop('second.csv', csv(numbers.slice(20)));
  await place.settled(numbers);
  expect(sent(api.calls).sort()).toEqual(numbers.toSorted());
});

function openAdmin({ adminUrl }: { adminUrl: string }) {
  const admin = new Redis(adminUrl);
  return Object.assign(admin, { [Symbol.asyncDispose]: async () => admin.disconnect() });
}

/** After a rollback the list is read when no call of before can arrive any more. */
const QUICK =
  'settle: 500ms, timeout: 2s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';

it.concurrent('a daemon that is back first sends no order that another one sent before Redis lost it', async () => {
  await using api = await openOddApi();
  await using redis = await startTestRedis();
  await using wayOfOne = await openRedisWay(redis.port);
  await using wayOfOther = await openRedisWay(redis.port);
  await using one = await openTroublePlace(api, { redis: wayOfOne.url, pace: QUICK });
  // With a separate folder `data`, as on another machine.
  await using other = await openTroublePlace(
    { url: api.url },
    { redis: wayOfOther.url, pace: QUICK, role: 'delivery' },
  );
  await using admin = openAdmin(redis);
  await until('both daemons', () =>
    [one, other].every(({ daemon }) => daemon.out().includes('daemon ready')),
  );
  await one.run('pause', '--reason', 'test');
  await one.drop('first.csv', csv(['PO-1']));
  await until('the order', async () => (await one.status()).queue.unsettledOrders === 1);
  const keys = await admin.keys('*');
  const copy = await Promise.all(
    keys.map(async (key) => [key, await admin.dumpBuffer(key), await admin.pttl(key)] as const),
  );

  wayOfOther.cut();
  await one.run('resume');
  await until('the call', () => api.stored.length === 1);
  await one.settled(['PO-1']);
  wayOfOne.cut();
  await admin.flushall();
  for (const [key, value, left] of copy) {
    if (value !== null) await admin.restore(key, Math.max(left, 0), value);
  }
  await takeOver(admin);
  const [breaker = ''] = keys.filter((key) => key.endsWith(':breaker'));
  await admin.hdel(breaker, 'hold:operator');

  wayOfOther.open();
  await until('the first one back', () => other.daemon.out().includes('"redis-back"'));
  // Long enough to send an order that waits, shorter than the wait for others.
  await delay(1_500);
  wayOfOne.open();
  await until('the list', async () => (await admin.keys('*:rebuild')).length > 0);
  await until('its end', async () => (await admin.keys('*:rebuild')).length === 0);
  await one.drop('second.csv', csv(['PO-2']));
  await one.settled(['PO-2']);
  expect(sent(api.calls)).toEqual(['PO-1', 'PO-2']);
});
