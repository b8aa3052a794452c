import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeEntry } from '../../../src/ledger/entry.ts';
import { OPERATOR } from '../../../src/ledger/pause-cause.ts';
import { openHeartbeat } from '../../../src/operate/heartbeat.ts';
import { readWaits } from '../../../src/operate/orders/read-waits.ts';
import { waitInShort, waitText } from '../../../src/wording/wait.ts';
import { type DeliveryRig, openDeliveryRig } from '../../support/delivery-rig.ts';
import { entryOf, orderOf } from '../../support/entry.ts';
import { byOperator } from '../../support/pause.ts';
import { refusals } from '../../support/refusals.ts';
import { until } from '../../support/until.ts';

const BATCHES = ['20261121T071500Z-inbox-a-00000001', '20261121T071600Z-inbox-b-00000002'] as const;

const waitsOf = async (rig: DeliveryRig) => (await readWaits(rig)).waits;

describe('the orders that wait', () => {
  let rig: DeliveryRig;

  beforeEach(async () => {
    rig = await openDeliveryRig();
    await rig.breaker.hold(byOperator('the test'));
    for (const batch of BATCHES) {
      const file = {
        batch,
        source: 'inbox',
        kind: 'inbox',
        name: 'orders.csv',
        path: '/none',
      } as const;
      await rig.batches.begin(file, rig.store.time.now());
    }
  });

  /** A daemon of this environment is alive until `Symbol.asyncDispose`. */
  async function startBeating(role?: 'intake' | 'delivery', isSteady = () => true) {
    const self = { pid: process.pid, version: '1', ...(role && { role }) };
    const heart = openHeartbeat({
      ...rig.store,
      isSteady,
      id: `d-${role}`,
      self,
    });
    await heart.beat();
    return heart;
  }

  afterEach(() => rig[Symbol.asyncDispose]());

  it('are counted by what they wait for, each group with its oldest order', async () => {
    const { ledger, store } = rig;
    const soon = store.time.now() + 60_000;
    const late = entryOf({ order: orderOf('B'), batch: BATCHES[1], batchNo: 2 });
    for (const number of ['B', 'C'])
      await ledger.enter({ ...late, order: orderOf(number) }, undefined, soon);
    const early = entryOf({ order: orderOf('A'), batch: BATCHES[0], batchNo: 1 });
    await ledger.enter(early, undefined, soon);
    const place = { line: 2 };
    const second = { batch: BATCHES[1], batchNo: 2, ordinal: 7, place };
    const both = { ...early, version: 2, also: [second] };
    expect(await ledger.join(both, early, second)).toBe(true);
    expect(await waitsOf(rig)).toEqual([
      {
        code: 'pause',
        facts: byOperator('the test'),
        orders: 3,
        oldest: { order: 'A', batch: BATCHES[0], since: Date.parse('2026-11-21T07:15:00Z') },
      },
      {
        code: 'order',
        facts: {},
        orders: 1,
        oldest: { order: 'A', batch: BATCHES[1], since: Date.parse('2026-11-21T07:16:00Z') },
      },
    ]);
  });

  it('of one file are equally old, and the group names the first in the file', async () => {
    const { ledger, store } = rig;
    const soon = store.time.now() + 60_000;
    const order = (number: string, ordinal: number) =>
      entryOf({ order: orderOf(number), batch: BATCHES[0], batchNo: 1, ordinal });
    await ledger.enter(order('first', 0), undefined, soon + 2);
    await ledger.enter(order('second', 1), undefined, soon);
    await ledger.enter(order('third', 2), undefined, soon + 1);
    expect(await waitsOf(rig)).toMatchObject([
      { code: 'pause', orders: 3, oldest: { order: 'first' } },
    ]);
  });

  it('whose attempt began before every daemon that is alive wait for the list, not for an answer', async () => {
    const { ledger, store } = rig;
    await rig.breaker.release(OPERATOR);
    await using former = await startBeating('delivery');
    const [now, soon] = [store.time.now(), store.time.now() + 60_000];
    const sending = entryOf({
      order: orderOf('A'),
      batch: BATCHES[0],
      state: 'sending',
      attempt: 1,
      lastAt: now,
    });
    await ledger.enter({ ...sending, deadline: soon }, undefined, soon);
    await until('a later time', () => store.time.now() > now);
    await using _next = await startBeating();
    const [inFlight] = await waitsOf(rig);
    expect(inFlight).toMatchObject({
      code: 'answer',
      facts: { attempt: 1 },
      orders: 1,
      until: soon,
    });
    await former[Symbol.asyncDispose]();
    const [lost] = await waitsOf(rig);
    expect(lost).toMatchObject({
      code: 'list',
      facts: { attempt: 1 },
      until: soon,
    });
  });

  it('of daemons that all lose Redis again and again wait for a connection that lasts', async () => {
    const { ledger, store } = rig;
    await rig.breaker.release(OPERATOR);
    await ledger.enter(
      entryOf({ order: orderOf('A'), batch: BATCHES[0], batchNo: 1 }),
      undefined,
      store.time.now() + 60_000,
    );
    await using _reader = await startBeating('intake');
    let isSteady = false;
    await using sender = await startBeating('delivery', () => isSteady);
    expect(await waitsOf(rig)).toMatchObject([{ code: 'redis', orders: 1 }]);
    {
      await using _steady = await startBeating();
      expect(await waitsOf(rig)).toMatchObject([{ code: 'turn', orders: 1 }]);
    }
    isSteady = true;
    await sender.beat();
    expect(await waitsOf(rig)).toMatchObject([{ code: 'turn', orders: 1 }]);
  });

  it('of a file that is read when delivery continues are counted with those of it that are not read yet', async () => {
    const { ledger, store, batches } = rig;
    await using _daemon = await startBeating();
    const inspection = {
      sha256: '',
      bytes: 1,
      records: 2000,
      orders: 2000,
      warnings: [],
      shape: { format: 'csv' },
    };
    const [batch] = BATCHES;
    await batches.inspected(batch, inspection as never);
    const order = (number: string, ordinal: number) =>
      entryOf({ order: orderOf(number), batch, batchNo: 1, ordinal });
    await ledger.enter(order('A', 0), undefined, store.time.now());
    const result = { outcome: 'invalid', attempts: 0, at: 0, code: 'invalid', facts: {} } as const;
    await ledger.count(batch, 1, [{ ordinal: 3, number: 'C', result }]);
    // Of 2,000 orders, one waits and one has its outcome.
    const [wait, ...others] = await waitsOf(rig);
    expect(wait).toMatchObject({ code: 'pause', orders: 1, unread: 1998 });
    expect(others).toEqual([]);
    expect(wait && waitText(wait)).toBe(
      'the end of the pause (1,998 more are read then): paused by the test',
    );
    await batches.admitted(batch, 2000, '');
    expect((await waitsOf(rig))[0]).not.toHaveProperty('unread');
  });

  it('of a held batch are counted with those of its file that are read when it is released', async () => {
    const { ledger, store, batches } = rig;
    const [batch] = BATCHES;
    await rig.breaker.release(OPERATOR);
    const shape = { format: 'csv' } as never;
    const inspection = { sha256: '', bytes: 1, records: 9, orders: 9, warnings: [], shape };
    await batches.inspected(batch, inspection as never);
    const order = (number: string, ordinal: number) =>
      entryOf({ order: orderOf(number), batch, batchNo: 1, ordinal, place: { line: ordinal + 2 } });
    const soon = store.time.now() + 60_000;
    await ledger.enter(order('A', 0), undefined, soon);
    await ledger.enter(order('B', 1), undefined, soon);
    const result = {
      outcome: 'duplicate',
      attempts: 0,
      at: 0,
      code: 'duplicate',
      facts: {},
    } as const;
    const second = { batch, batchNo: 1, ordinal: 2, place: { line: 4 } };
    await ledger.join({ ...order('A', 0), version: 2, also: [second] }, order('A', 0), second);
    await ledger.count(batch, 1, [{ ordinal: 3, number: 'C', result }]);
    await batches.hold(batch, { wait: refusals(), alike: '' }, 1);
    // Of nine orders, two wait, one waits for another, one has its outcome.
    expect(await waitsOf(rig)).toMatchObject([
      { code: 'release', orders: 2, unread: 5 },
      { code: 'order' },
    ]);
    await batches.admitted(batch, 9, '');
    expect((await waitsOf(rig))[0]).not.toHaveProperty('unread');
  });

  it('of a file whose reader ended are counted, and wait for a daemon that reads files', async () => {
    const { ledger, store, batches } = rig;
    await rig.breaker.release(OPERATOR);
    const [batch] = BATCHES;
    const inspection = {
      sha256: '',
      bytes: 1,
      records: 9,
      orders: 9,
      warnings: [],
      shape: { format: 'csv' },
    };
    await batches.inspected(batch, inspection as never);
    // Later, so that the delivery of the rig leaves it alone.
    const soon = store.time.now() + 60_000;
    await ledger.enter(entryOf({ order: orderOf('A'), batch, batchNo: 1 }), undefined, soon);
    const [none, ...others] = await waitsOf(rig);
    expect(none).toMatchObject({ code: 'daemon', orders: 1, unread: 8 });
    expect(others).toEqual([]);
    expect(none && waitText(none)).toBe('a daemon; none is running (8 more are read then)');
    {
      await using _delivery = await startBeating('delivery');
      const noReader = (await waitsOf(rig)).find(({ code }) => code === 'daemon');
      expect(noReader).toMatchObject({ orders: 0, unread: 8 });
      expect(noReader && waitText(noReader)).toBe(
        'a daemon that reads files; none is running (8 orders are not read yet)',
      );
    }
    await using _intake = await startBeating('intake');
    // Now for one that delivers.
    expect(await waitsOf(rig)).toMatchObject([
      { code: 'daemon', facts: { lacks: 'delivery' }, orders: 1, unread: 8 },
    ]);
    await using _both = await startBeating();
    const [turn] = await waitsOf(rig);
    expect(turn && waitText(turn)).toBe('a free slot for a call (8 more are read then)');
    // The file does not wait for the next attempt of an order that failed.
    const failed = entryOf({ order: orderOf('A'), batch, batchNo: 1, state: 'retry', version: 9 });
    await store.redis.set(store.keys.open('A'), encodeEntry(failed));
    await store.redis.zadd(store.keys.due, soon, 'A');
    expect((await waitsOf(rig)).map(waitInShort)).toEqual([
      'its next attempt',
      'a free slot for a call (8 orders are not read yet)',
    ]);
  });
});
