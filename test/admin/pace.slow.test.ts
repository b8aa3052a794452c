import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketOf, createPace, quantile, SPAN, STEP } from '../../src/admin/pace/pace.ts';
import { createPaceSeries, lastMinute, paceColumns } from '../../src/admin/pace/pace-series.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Meter } from '../../src/log/meter.ts';
import type { Store } from '../../src/redis/store.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { until } from '../support/until.ts';

let open: OpenRedis;
let now = 0;
let waitingJobs = 0;
let store: Store;

const queue = { waiting: async () => waitingJobs };
const breaker = {
  during: async () => [
    { code: 'operator', reason: 'stock-taking', from: now - 1_000, to: undefined },
  ],
};
const nothing = () => undefined;
const meter = new Proxy({} as Meter, { get: () => nothing, ownKeys: () => [] });

beforeAll(async () => {
  open = await openTestRedis();
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(async () => {
  await open.redis.flushall();
  // A Redis clock and ledger time agree here.
  now = Math.ceil(Date.now() / STEP) * STEP;
  waitingJobs = 0;
  store = {
    ...open,
    plain: open.redis,
    private: false,
    isSteady: () => true,
    timesLost: () => 0,
    time: { ...open.time, now: () => now },
  };
});

/** A daemon: what it counts, and its end, at which it adds the rest. */
function startDaemon() {
  const pace = createPace(store);
  const troubles: Error[] = [];
  const recording = pace.record(queue, systemClock, (error) => void troubles.push(error));
  return {
    ...pace.counted(meter),
    troubles,
    [Symbol.asyncDispose]: () => recording[Symbol.asyncDispose](),
  };
}

async function read() {
  const series = createPaceSeries(store, breaker);
  await series.refresh();
  return series;
}

const entries = () => open.redis.xlen(open.keys.pace);

describe('the series', () => {
  it('adds up several daemons, step by step', async () => {
    const [one, other] = [startDaemon(), startDaemon()];
    one.settled('b', 'accepted', 30);
    other.settled('b', 'accepted', 20);
    other.settled('b', 'refused', 5);
    other.settled('b', 'duplicate', 1_000);
    waitingJobs = 7;
    now += STEP;
    await until('both added the step', async () => (await entries()) === 2);
    one.settled('b', 'accepted', 10);
    now += STEP + 2_000;
    await until('both added the next step', async () => (await entries()) === 4);
    const series = await read();
    const {
      at,
      acceptedPerSecond,
      needPersonPerSecond,
      waitingJobs: jobs,
    } = paceColumns(series, undefined, now);
    expect([acceptedPerSecond.slice(-3), needPersonPerSecond.slice(-3)]).toEqual([
      [null, 10, 2],
      [null, 1, 0],
    ]);
    expect([jobs.at(-1), at.length]).toEqual([7, SPAN / STEP - 1]);
    expect(paceColumns(series, (at.at(-2) ?? 0) * 1_000, now).acceptedPerSecond).toEqual([2]);
    expect(lastMinute(series)).toMatchObject({ acceptedPerSecond: 1, needPersonPerSecond: 0.1 });
    await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
    expect([...one.troubles, ...other.troubles]).toEqual([]);
  });

  it('has what a daemon counted in the step in which it ended', async () => {
    const daemon = startDaemon();
    daemon.settled('b', 'accepted', 5);
    daemon.token('issued');
    daemon.token('token-refused');
    await daemon[Symbol.asyncDispose]();
    now += STEP + 2_000;
    const series = await read();
    expect(paceColumns(series, undefined, now).acceptedPerSecond.at(-1)).toBe(1);
    expect(series.tokens()).toEqual({ issued: 1, lastAt: now - STEP - 2_000, failed: 1 });
  });

  it('measures answers to create requests only', async () => {
    const daemon = startDaemon();
    for (const ms of [10, 10, 10, 200]) daemon.request('create', 201, ms);
    daemon.request('create', undefined, 9_000);
    daemon.request('list', 200, 9_000);
    await daemon[Symbol.asyncDispose]();
    now += STEP + 2_000;
    const { createP50Ms, createP95Ms } = paceColumns(await read(), undefined, now);
    expect(createP50Ms.at(-1)).toBeCloseTo(10, -1);
    expect(createP95Ms.at(-1)).toBeGreaterThan(180);
  });

  it('shows an API that became slow in the last ten seconds, before it shows in the minute', async () => {
    const daemon = startDaemon();
    for (let i = 0; i < 400; i += 1) daemon.request('create', 201, 8);
    now += 3 * STEP;
    for (let i = 0; i < 20; i += 1) daemon.request('create', 201, 2_000);
    await daemon[Symbol.asyncDispose]();
    now += STEP + 2_000;
    const { createP50Ms, latestP50Ms } = lastMinute(await read());
    expect(createP50Ms).toBeLessThan(10);
    expect(latestP50Ms).toBeGreaterThan(1_900);
    now += 2 * STEP;
    expect(lastMinute(await read())).toMatchObject({ createP50Ms, latestP50Ms: null });
    now += 60_000;
    expect(lastMinute(await read())).toMatchObject({ createP50Ms: null });
  });

  it('shows a change to a step that was read before, and only the last hour', async () => {
    const daemon = startDaemon();
    daemon.settled('b', 'accepted', 5);
    now += STEP;
    await until('the step was added', async () => (await entries()) === 1);
    now += 2_000;
    const series = await read();
    const late = {
      at: now - 2_000 - STEP,
      accepted: 5,
      needPerson: 0,
      tokens: 0,
      tokenFailures: 0,
      times: {},
    };
    await open.redis.xadd(open.keys.pace, '*', 'step', JSON.stringify(late));
    now += 1_500;
    await series.refresh();
    expect(series.summary(late.at, late.at + STEP)?.acceptedPerSecond).toBe(2);
    now += SPAN;
    await series.refresh();
    expect(series.summary(late.at, late.at + STEP)).toBeUndefined();
    await daemon[Symbol.asyncDispose]();
  });

  it('in Redis does not grow beyond the hour', async () => {
    const old = Date.now() - 2 * SPAN;
    const many = Array.from({ length: 500 }, (_, i) =>
      open.redis.xadd(open.keys.pace, `${old + i}-0`, 'step', '{}'),
    );
    await Promise.all(many);
    const daemon = startDaemon();
    for (let left = 2; left > 0; left -= 1) {
      const before = await entries();
      const last = (await open.redis.xrevrange(open.keys.pace, '+', '-', 'COUNT', 1))[0]?.[0];
      now += STEP;
      await until('a step was added', async () => {
        return (await open.redis.xrevrange(open.keys.pace, '+', '-', 'COUNT', 1))[0]?.[0] !== last;
      });
      if (left === 1) expect(await entries()).toBeLessThan(before);
    }
    await daemon[Symbol.asyncDispose]();
  });
});

it.each([0.2, 1, 7, 42, 999, 31_000])('a bucket is exact to 10 %%: %f ms', (ms) => {
  const found = quantile(new Map([[bucketOf(ms), 3]]), 0.5) ?? 0;
  expect(found).toBeGreaterThanOrEqual(ms * 0.99);
  expect(found).toBeLessThanOrEqual(Math.max(1, ms * 1.11));
});

it('no measurement has no quantile', () => {
  expect(quantile(new Map(), 0.5)).toBeUndefined();
});
