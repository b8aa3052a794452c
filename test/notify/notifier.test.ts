import { beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { createBatches } from '../../src/ledger/batches.ts';
import type { Notice } from '../../src/notify/notice.ts';
import { createNotifier } from '../../src/notify/notifier.ts';
import type { RedisTime } from '../../src/redis/redis-time.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { openTestRedis } from '../support/open-redis.ts';

const HOUR = 3_600_000;

/** Two daemons that look at one Redis; time goes on when told. */
async function openTwo(sources: readonly Source[] = []) {
  const store = await openTestRedis();
  let ahead = 0;
  const time: RedisTime = { now: () => store.time.now() + ahead, sync: () => store.time.sync() };
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
  };
  const told: Notice[] = [];
  const { redis, keys } = store;
  const batches = createBatches({ redis, keys, owner: 'me' });
  const breaker = createCircuitBreaker({
    store: { redis, keys, time },
    clock,
    probe: { initial: 1000, max: 1000 },
    onPaused: () => undefined,
    onResumed: () => undefined,
  });
  const open = () =>
    createNotifier({
      ...store,
      clock,
      time,
      sources,
      breaker,
      batches,
      environment: 'staging',
      reportOf: (batch) => `/reports/${batch}`,
      tell: (notice) => void told.push(notice),
    });
  let lookouts = [open(), open()];
  return {
    told,
    breaker,
    batches,
    time,
    clock,
    first: () => lookouts[0] ?? open(),
    restart: () => {
      lookouts = [open(), open()];
    },
    pass: (ms: number) => {
      ahead += ms;
    },
    look: () => Promise.all(lookouts.map(({ tick }) => tick())),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

let two: Awaited<ReturnType<typeof openTwo>>;

describe('a pause', () => {
  beforeEach(async () => {
    two = await openTwo();
    return () => two[Symbol.asyncDispose]();
  });

  it('is told once by all daemons, also after a restart, and so is its end', async () => {
    await two.breaker.trip('api-down', 'the API answers 503');
    two.pass(3_000);
    for (let i = 0; i < 3; i += 1) await two.look();
    two.restart();
    await two.look();
    expect(two.told).toMatchObject([{ event: 'paused', kind: 'paused', reason: 'the API answers 503' }]);
    await two.breaker.reset();
    await two.look();
    await two.look();
    expect(two.told.slice(1)).toMatchObject([{ event: 'paused', kind: 'resumed', since: two.told[0]?.since }]);
  });

  it('that passes at once is not told', async () => {
    await two.breaker.trip('api-down', 'hiccup');
    await two.look();
    await two.breaker.reset();
    two.pass(3_000);
    await two.look();
    expect(two.told).toEqual([]);
  });

  it('with a second reason is one pause, until none is left', async () => {
    await two.breaker.trip('api-down', 'the API is away');
    two.pass(3_000);
    await two.look();
    await two.breaker.hold('operator', 'an operator said so');
    await two.breaker.reset();
    two.pass(3_000);
    await two.look();
    expect(two.told).toHaveLength(1);
    await two.breaker.release('operator');
    await two.look();
    expect(two.told.map(({ kind }) => kind)).toEqual(['paused', 'resumed']);
  });
});

describe('a batch', () => {
  const file = { batch: 'b-1', source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' } as const;

  beforeEach(async () => {
    two = await openTwo();
    return () => two[Symbol.asyncDispose]();
  });

  it('that is held is told once, without what the API said of an order', async () => {
    await two.batches.begin(file, two.time.now());
    await two.batches.hold('b-1', '40 of the last 40 answers refuse alike: article "A B" of PO-7 is unknown', 1);
    await two.look();
    await two.look();
    expect(two.told).toMatchObject([
      { kind: 'held', batch: 'b-1', reason: '40 of the last 40 answers refuse alike: article … of … is unknown' },
    ]);
    expect(JSON.stringify(two.told)).not.toMatch(/PO-7|A B/);
  });

  it('that is held again after a release is told again', async () => {
    await two.batches.begin(file, two.time.now());
    for (const since of [1, 2]) {
      await two.batches.hold('b-1', 'alike', since);
      await two.look();
      await two.batches.release('b-1');
      await two.look();
    }
    expect(two.told.map(({ kind }) => kind)).toEqual(['held', 'held']);
  });

  it('that was settled is told when it needs a person, once', async () => {
    const batch = { ...(await two.batches.begin(file, two.time.now())), total: 5 };
    await two.first().settled(batch, 0);
    expect(two.told).toEqual([]);
    await Promise.all([two.first().settled(batch, 2), two.first().settled(batch, 2)]);
    expect(two.told).toMatchObject([
      { event: 'attention', kind: 'finished', orders: 5, needPerson: 2, report: '/reports/b-1' },
    ]);
  });

  it('whose file cannot be read is told as unreadable', async () => {
    await two.first().settled(await two.batches.begin(file, two.time.now()), 1);
    expect(two.told).toMatchObject([{ event: 'attention', kind: 'unreadable', batch: 'b-1' }]);
  });
});

describe('a source', () => {
  beforeEach(async () => {
    two = await openTwo([inboxSource('/none', { name: 'erp', expectEvery: HOUR }), inboxSource('/none')]);
    return () => two[Symbol.asyncDispose]();
  });

  it('never heard is silent after its time from the first daemon on, told once, and told when it is heard', async () => {
    await two.look();
    two.pass(HOUR / 2);
    two.restart();
    await two.look();
    expect(two.told).toEqual([]);
    two.pass(HOUR);
    await two.look();
    two.pass(5 * HOUR);
    await two.look();
    expect(two.told).toMatchObject([{ event: 'silent', kind: 'silent', source: 'erp' }]);
    await two.first().heard('erp', two.clock.now());
    await two.look();
    await two.look();
    expect(two.told.slice(1)).toMatchObject([{ event: 'silent', kind: 'heard', source: 'erp' }]);
    two.pass(2 * HOUR);
    await two.look();
    expect(two.told.map(({ kind }) => kind)).toEqual(['silent', 'heard', 'silent']);
  });

  it('is not silent before a new daemon could take what lies there', async () => {
    await two.first().heard('erp', two.clock.now());
    two.pass(48 * HOUR);
    two.restart();
    await two.look();
    await two.first().heard('erp', two.clock.now());
    two.pass(5_000);
    await two.look();
    expect(two.told).toEqual([]);
  });

  it('counts an old claim that is taken up again as old', async () => {
    await two.look();
    two.pass(2 * HOUR);
    await two.first().heard('erp', two.clock.now() - 3 * HOUR);
    await two.look();
    expect(two.told.map(({ kind }) => kind)).toEqual(['silent']);
  });
});
