import { describe, expect, it } from 'vitest';
import type { ListEnd } from '../../src/api/list.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { readGuarantee } from '../../src/reconcile/guarantee.ts';
import { createGuaranteeMeter } from '../../src/reconcile/guarantee-meter.ts';
import { capturedLog } from '../support/captured-log.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

const { settle } = policy;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const COMPLETE: ListEnd = { kind: 'complete', orders: 0 };

/** A meter over a real Redis, an API whose list shows an order `lag` milliseconds after it was created, and the test's time. */
async function openMeter(lag = 0) {
  await using stack = new AsyncDisposableStack();
  const { redis, keys, identity } = stack.use(await openTestRedis());
  const { log, lines } = capturedLog();
  const ledger = createLedger({ redis, keys, identity });
  const rig = { now: 100 * DAY, lag, end: COMPLETE as ListEnd | undefined, reads: 0 };
  const created: { number: string; at: number }[] = [];
  const time = { now: () => rig.now, sync: async () => undefined, watched: () => 1e9 };
  const open = () =>
    createGuaranteeMeter({
      store: { redis, keys, time },
      ledger,
      clock: { ...systemClock, monotonic: () => rig.now },
      owner: 'rig',
      settle,
      log,
      stopping: new AbortController().signal,
    });
  const meter = open();
  const list = meter.watch(async (onOrder) => {
    rig.reads += 1;
    const shown = created.filter(({ at }) => at + rig.lag <= rig.now);
    rig.now += 20;
    for (const { number } of shown) onOrder({ purchaseOrderNumber: number });
    return rig.end ?? COMPLETE;
  });
  const kept = stack.move();
  return {
    rig,
    redis,
    keys,
    ledger,
    lines,
    meter,
    other: open(),
    created,
    read: () => list(() => undefined),
    tick: () => meter.tick(list),
    /** The API creates an order and answers now. */
    create(number: string, shownAs = number): void {
      created.push({ number: shownAs, at: rig.now });
      meter.remember(number);
    },
    /** An order whose call ended without an answer now. */
    async doubt(number: string, state: Entry['state'] = 'unknown'): Promise<Entry> {
      const entry = entryOf({ order: orderOf(number), attempt: 1, version: rig.now });
      const unclear: Entry = { ...entry, version: rig.now + 1, state, maybeSentAt: rig.now };
      await ledger.enter(entry, undefined, rig.now);
      await ledger.take(entry, { kind: 'move', entry: unclear, doubt: rig.now + settle });
      return unclear;
    },
    async measured(assumption: string) {
      const all = await readGuarantee({ redis, keys }, { settle, now: rig.now });
      return all.find((one) => one.assumption === assumption);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe('how long a created order takes to appear in the list', () => {
  const LAGS = [500, 5_000, 20_000, 90_000];
  const rows = LAGS.flatMap((lag) => [1_000, 70_000].map((gap) => ({ lag, gap })));
  it.each(rows)(
    'is measured as $lag ms to 10 %, or to the $gap ms between two reads',
    async ({ lag, gap }) => {
      await using place = await openMeter(lag);
      const { rig } = place;
      const end = rig.now + 2 * lag + 3 * gap;
      let [nextOrder, nextRead] = [rig.now, rig.now + gap];
      for (; rig.now < end; rig.now += 100) {
        if (rig.now >= nextOrder) place.create(`PO-${nextOrder}`);
        while (rig.now >= nextOrder) nextOrder += 1_370;
        if (rig.now < nextRead) continue;
        await place.read();
        nextRead += gap;
      }
      const found = await place.measured('A3');
      expect(Math.abs(Number(found?.measured) - lag)).toBeLessThanOrEqual(Math.max(0.1 * lag, gap));
      expect(found?.atLeast).toBeLessThan(lag);
    },
  );

  it('is not known while no list has shown one, and fails when a list lacks one after a settle', async () => {
    await using place = await openMeter(90_000);
    const { rig, measured } = place;
    expect(await measured('A3')).toMatchObject({ holds: null, samples: 0, measured: null });
    place.create('PO-1');
    rig.now += settle - 1;
    await place.read();
    expect(await measured('A3')).toMatchObject({ holds: null, samples: 0 });
    rig.now += 1;
    await place.read();
    expect(await measured('A3')).toMatchObject({ holds: false, samples: 1, measured: settle + 20 });
    rig.now += 35_000;
    await place.read();
    // The list lacked it after 60 s and showed it after 95 s: twice that, as a person writes it.
    expect(await measured('A3')).toMatchObject({ holds: false, samples: 1, propose: '5m' });
  });

  it('is not proved by a list that failed, and a list that failed may show an order', async () => {
    await using place = await openMeter(90_000);
    const { rig, measured } = place;
    rig.end = { kind: 'failed', said: { code: 'no-answer', message: '' } };
    place.create('PO-1');
    rig.now += settle;
    await place.read();
    expect(await measured('A3')).toMatchObject({ holds: null });
    rig.lag = 0;
    await place.read();
    expect(await measured('A3')).toMatchObject({ samples: 1, atLeast: 0, measured: settle + 40 });
  });

  it('is measured of one order a second, whatever their number, and forgotten after 30 days', async () => {
    await using place = await openMeter();
    const { rig, redis, keys, measured } = place;
    for (let i = 0; i < 300; i += 1) {
      place.create(`PO-${i}`);
      rig.now += 500;
      if (i === 39) expect(await redis.zcard(keys.unseen)).toBe(20);
    }
    expect(await redis.zcard(keys.unseen)).toBe(60);
    await place.read();
    expect(await measured('A3')).toMatchObject({ holds: true, samples: 60 });
    for (let day = 0; day < 29; day += 1) {
      rig.now += DAY;
      await place.read();
    }
    expect(await measured('A3')).toMatchObject({ samples: 60 });
    rig.now += DAY;
    expect(await measured('A3')).toMatchObject({ samples: 0 });
    await place.read();
    const stored = await redis.hgetall(keys.guarantee);
    expect(Object.keys(stored).filter((field) => /^\d+$/.test(field))).toHaveLength(30);
    expect(JSON.stringify(stored).length).toBeLessThan(4_000);
  });

  it('is shared by daemons: one delivers, another reads the list', async () => {
    await using place = await openMeter();
    place.other.remember('PO-1');
    place.created.push({ number: 'PO-1', at: place.rig.now });
    await place.read();
    expect(await place.measured('A3')).toMatchObject({ holds: true, samples: 1 });
  });
});

describe('a call without an answer', () => {
  it('was stored in time when the first list after a settle shows it', async () => {
    await using place = await openMeter();
    const { rig, created, measured } = place;
    created.push({ number: 'PO-1', at: rig.now });
    await place.doubt('PO-1');
    rig.now += settle + 500;
    await place.read();
    expect(await measured('A2')).toMatchObject({
      holds: true,
      samples: 1,
      measured: settle + 520,
      atLeast: 0,
      margin: null,
    });
  });

  it('was stored too late when a list lacked it a settle after its end and a later one shows it', async () => {
    await using place = await openMeter();
    const { rig, created, measured } = place;
    await place.doubt('PO-1');
    rig.now += settle;
    await place.read();
    rig.now += settle;
    created.push({ number: 'PO-1', at: rig.now });
    await place.read();
    expect(await measured('A2')).toMatchObject({
      holds: false,
      samples: 1,
      atLeast: settle,
      propose: '5m',
    });
  });

  it('is not measured once another attempt has begun, which may have created what the list shows', async () => {
    await using place = await openMeter();
    const { rig, created, measured, ledger } = place;
    const unclear = await place.doubt('PO-1', 'retry');
    rig.now += settle;
    await place.read();
    created.push({ number: 'PO-1', at: rig.now });
    const sending: Entry = { ...unclear, version: rig.now, state: 'sending', attempt: 2 };
    await ledger.take(unclear, { kind: 'move', entry: sending, due: rig.now + settle });
    await place.read();
    expect(await measured('A2')).toMatchObject({ holds: null, samples: 0 });
  });
});

it('an order that a list shows in another spelling only is counted once it should be shown', async () => {
  await using place = await openMeter();
  const { rig, redis, keys, measured } = place;
  place.create('po-1', 'PO-1');
  await place.read();
  expect(await measured('A5')).toMatchObject({ holds: null });
  rig.now += settle;
  await place.read();
  expect(await measured('A5')).toMatchObject({ holds: false, samples: 1, measured: 1 });
  expect(await redis.zcard(keys.unseen)).toBe(0);
});

it('the kind of the list is the last one that was found', async () => {
  await using place = await openMeter();
  const { meter, measured } = place;
  expect(await measured('A4')).toMatchObject({ holds: null, measured: null });
  meter.sawKind('notOffered');
  expect(await measured('A4')).toMatchObject({ holds: false, measured: 'notOffered' });
  meter.sawKind('paged');
  expect(await measured('A4')).toMatchObject({ holds: true, measured: 'paged' });
  meter.sawKind('cut');
  expect(await measured('A4')).toMatchObject({ holds: false, measured: 'cut' });
  meter.sawKind('complete');
  // A later list shows an older order and lacks a younger one.
  meter.sawCut(true);
  expect(await measured('A4')).toMatchObject({ holds: false, measured: 'cut' });
  meter.sawCut(false);
  expect(await measured('A4')).toMatchObject({ holds: true, measured: 'complete' });
});

describe('the list is read for the meter', () => {
  it('only when a created order is a settle old and nobody has read it for an hour', async () => {
    await using place = await openMeter();
    const { rig } = place;
    rig.now += 2 * HOUR;
    await place.tick();
    place.create('PO-1');
    rig.now += settle - 1;
    await place.tick();
    expect(rig.reads).toBe(0);
    rig.now += 1;
    await place.tick();
    expect(rig.reads).toBe(1);
    expect(await place.measured('A3')).toMatchObject({ holds: null, samples: 1 });
    for (rig.lag = DAY; rig.reads < 2; rig.now += settle) {
      place.create(`PO-${rig.now}`);
      await place.tick();
    }
    expect(rig.now).toBeGreaterThan(100 * DAY + 3 * HOUR);
  });

  it('never while another daemon reads it', async () => {
    await using place = await openMeter();
    place.create('PO-1');
    place.rig.now += settle;
    await place.redis.set(place.keys.lease('verification'), 'another daemon');
    await place.tick();
    expect(place.rig.reads).toBe(0);
  });
});

it('a Redis that refuses the meter changes nothing for those who read the list or deliver', async () => {
  await using place = await openMeter();
  await place.redis.set(place.keys.guarantee, 'not a hash');
  await place.redis.set(place.keys.unseen, 'not a set');
  place.create('PO-1');
  expect(await place.read()).toEqual(COMPLETE);
  expect(place.lines.map(({ event }) => event)).toContain('delivery-trouble');
});
