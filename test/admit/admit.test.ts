import { expect, it } from 'vitest';
import { createAdmission } from '../../src/admit/admit.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { capturedLog } from '../support/captured-log.ts';
import { orderOf } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { until } from '../support/until.ts';

const FILE = {
  source: 'inbox',
  kind: 'inbox',
  name: 'orders.csv',
  path: '/tmp/orders.csv',
} as const;

function order(number: string, ordinal: number): CheckedOrder {
  return {
    ordinal,
    number,
    place: { line: ordinal + 2 },
    records: [],
    valid: true,
    order: orderOf(number),
  };
}

/** A queue that keeps the numbers that it gets. */
function openList() {
  const queued: string[] = [];
  const queue = {
    nameJob: () => 'c-1',
    add: async (jobs: readonly { numbers: readonly string[] }[]) => {
      for (const { numbers } of jobs) queued.push(...numbers);
    },
  };
  return { queue, queued };
}

it('a file of one order waits for a few seconds of work, not for the large file before it', async () => {
  await using store = await openTestRedis();
  const ledger = createLedger(store);
  const batches = createBatches({ ...store, owner: 'daemon-1' });
  const { queue, queued } = openList();
  // Five seconds of 20 orders a second.
  const throughput = { fewSeconds: () => 100 };
  const { log } = capturedLog();
  const retention = { shown: async () => new Set<string>() };
  const { admit } = createAdmission({
    store,
    ledger,
    batches,
    queue,
    clock: systemClock,
    throughput,
    readList: 'newLedger',
    retention,
    log,
  });
  const stop = new AbortController();
  const file = { records: 600, isFixFile: false };
  const large = await batches.begin({ ...FILE, batch: 'large' }, 1);
  const small = await batches.begin({ ...FILE, batch: 'small' }, 2);
  const all = Array.from({ length: 600 }, (_, i) => order(`PO-${i}`, i));
  const admitting = admit(large, all, file, stop.signal);
  await until('a full queue', () => queued.length >= 100);
  const before = queued.length;
  const quick = admit(small, [order('SMALL', 0)], { ...file, records: 1 }, stop.signal);
  for (const number of queued.slice(0, 30)) await store.redis.zrem(store.keys.due, number);
  expect(await quick).toBe(true);
  // One portion of the large file may go first.
  expect(queued.indexOf('SMALL')).toBeLessThanOrEqual(before + 25);
  expect(before).toBeLessThanOrEqual(125);
  stop.abort();
  expect(await admitting).toBe(false);
});

it('orders that wait for a later attempt, or whose batch is held, do not limit admission, and are counted without being read', async () => {
  await using store = await openTestRedis();
  const asked: string[] = [];
  const redis = new Proxy(store.redis, {
    get(target, name) {
      asked.push(String(name));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const ledger = createLedger({ ...store, redis });
  const now = store.time.now();
  await store.redis.zadd(
    store.keys.due,
    now,
    'DUE',
    now + 29_000,
    'QUEUED',
    now + 600_000,
    'LATER',
    now,
    'HELD',
  );
  await ledger.park('HELD', now);
  asked.length = 0;
  expect(await ledger.sendable(now)).toBe(2);
  expect(await ledger.unparked()).toBe(3);
  expect(asked).toEqual(['zcount', 'zcount', 'zcard']);
  expect(await ledger.unsettled()).toBe(4);
});

it('while a page waits, two readers count the invalid orders of the rest once, admit none, and end with their wait', async () => {
  await using store = await openTestRedis();
  const ledger = createLedger(store);
  const batches = createBatches({ ...store, owner: 'daemon-1' });
  const queue = { nameJob: () => 'c-1', add: async () => undefined };
  const { log } = capturedLog();
  const deps = {
    store,
    ledger,
    batches,
    queue,
    clock: systemClock,
    throughput: { fewSeconds: () => 0 },
    readList: 'newLedger' as const,
    log,
  };
  const { admit, lookAhead } = createAdmission({
    ...deps,
    retention: { shown: async () => new Set<string>() },
  });
  const batch = await batches.begin({ ...FILE, batch: 'long' }, 1);
  const all = Array.from({ length: 40 }, (_, i) =>
    i % 10 === 5 ? invalid(`PO-${i}`, i) : order(`PO-${i}`, i),
  );
  const facts = { records: 40, isFixFile: false };
  const stop = new AbortController();
  let isRead = false;
  async function* pages() {
    yield all.slice(0, 20);
    yield all.slice(20);
    isRead = true;
    // The rest of the file.
    await systemClock.sleep(600_000, stop.signal);
  }
  const readers = [1, 2].map(async () => {
    await using ahead = lookAhead(batch, facts, pages);
    const admitting = admit(batch, all.slice(0, 10), facts, stop.signal);
    return [await ahead.during(admitting, 9), await admitting];
  });
  await until('the end of the file', () => isRead);
  expect(await batches.find('long')).toMatchObject({
    counts: { invalid: 4 },
    open: 4,
  });
  expect(await ledger.unsettled()).toBe(0);
  stop.abort();
  expect(await Promise.all(readers)).toEqual([
    [true, false],
    [true, false],
  ]);
});

function invalid(number: string, ordinal: number): CheckedOrder {
  const place = { line: ordinal + 2 };
  return { ordinal, number, place, records: [], valid: false, problems: [] };
}
