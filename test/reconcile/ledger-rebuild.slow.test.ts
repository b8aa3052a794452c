import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startLoop } from '../../src/core/backoff/loop.ts';
import { systemClock } from '../../src/core/clock.ts';
import { digestOf } from '../../src/order/digest.ts';
import { expectOrders } from '../../src/reconcile/list-proof.ts';
import { createRebuildRequest } from '../../src/reconcile/rebuild-request.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { type DeliveryRig, numbersOf, openDeliveryRig } from '../support/delivery-rig.ts';
import { orderOf } from '../support/entry.ts';
import { until } from '../support/until.ts';

/** Lets the rig notice and repair a rollback the way the daemon does. */
function mending(rig: DeliveryRig): AsyncDisposable {
  const tick = async () => {
    await rig.reconciliation.rebuild.tick();
  };
  return startLoop(tick, { pause: 20, clock: systemClock, onTrouble: () => undefined });
}

describe('ledger rebuild', () => {
  it('fills a new ledger with what the API already has: the same order is a duplicate, other content a conflict', async () => {
    await using rig = await openDeliveryRig({ isNew: true });
    const token = await rig.api.token();
    await rig.api.create(orderOf('PO-0001'), token);
    await rig.reconciliation.rebuild.first(new AbortController().signal);
    const [known] = await rig.ledger.lookup(['PO-0001']);
    expect(known).toMatchObject({ kind: 'accepted', compact: { batchNo: 0, attempts: 0 } });
  });

  it('knows what a list showed that could not be read to its end, and waits for a person where a later one lacks it', async () => {
    const faults = [
      { kind: 'list', show: 'limited:15', calls: '1-7' },
      { kind: 'list', show: 'archive:0s', calls: '8-99' },
    ];
    await using rig = await openDeliveryRig({ isNew: true, faults: { faults } });
    const token = await rig.api.token();
    for (const number of ['PO-0001', 'PO-0002']) await rig.api.create(orderOf(number), token);
    await using _ = mending(rig);
    const { redis, keys } = rig.store;
    await until('the pause', async () =>
      (await redis.hget(keys.breaker, 'hold:ledger-new'))?.includes('list-incomplete'),
    );
    expect(await rig.ledger.lookup(['PO-0002'])).toMatchObject([{ kind: 'accepted' }]);
    await expectOrders(rig.store, 0);
    await until('the end', async () => (await rig.reconciliation.rebuild.pending()) === undefined);
  });

  it('reports an order as a duplicate that came while the list of a new ledger could not be read', async () => {
    await using rig = await openDeliveryRig({ isNew: true });
    const token = await rig.api.token();
    await rig.api.create(orderOf('PO-0001'), token);
    await rig.submit('b1', ['PO-0001']);
    await rig.reconciliation.rebuild.first(new AbortController().signal);
    await rig.settled();
    const [known] = await rig.ledger.lookup(['PO-0001']);
    expect(known).toMatchObject({ kind: 'accepted', compact: { batchNo: 0, attempts: 0 } });
    expect(rig.stored()).toEqual(new Map([['PO-0001', 1]]));
  });

  it('pauses delivery only while the list is asked for, also when a process dies that was late to say so', async () => {
    await using rig = await openDeliveryRig({ isNew: true });
    const { redis, keys } = rig.store;
    // Another daemon reads the list between two commands of this process, which then dies.
    const dying = Object.assign(Object.create(redis) as Redis, {
      hgetall: async (key: string) => {
        const found = await redis.hgetall(key);
        if (found['epoch'] !== undefined)
          await createRebuildRequest(rig.store).finish(found['epoch']);
        return found;
      },
      hdel: async () => Promise.reject(new Error('the process died')),
    });
    await createRebuildRequest({ ...rig.store, redis: dying })
      .showWait()
      .catch(() => undefined);
    expect(await redis.hkeys(keys.breaker)).toEqual([]);
  });

  it('of a ledger that lost something waits until what the reports have as cancelled or discarded is entered', async () => {
    await using rig = await openDeliveryRig({ waitsFor: 'reports' });
    const { redis, keys } = rig.store;
    await redis.hset(keys.rebuild, { why: 'rolled-back', epoch: 'e2', notBefore: 0, wait: 0 });
    await redis.hset(keys.identity, 'recalled', 'e1');
    expect(await rig.reconciliation.rebuild.tick()).toBe('pending');
    await redis.hset(keys.identity, 'recalled', 'e2');
    expect(await rig.reconciliation.rebuild.tick()).toBe('done');
  });

  it('notes orders that the list shows twice, in the log and for reports, until a list shows them once', async () => {
    await using rig = await openDeliveryRig({ isNew: true });
    const { listedTwice } = rig.ledger;
    await listedTwice.replace(new Map([['GONE', 2]]));
    const token = await rig.api.token();
    for (const number of ['PO-0001', 'PO-0001', 'PO-0002'])
      await rig.api.create(orderOf(number), token);
    await rig.reconciliation.rebuild.first(new AbortController().signal);
    expect(await listedTwice.timesOf(['PO-0001', 'PO-0002', 'GONE'])).toEqual([
      2,
      undefined,
      undefined,
    ]);
    const logged = rig.lines.filter(({ event }) => event === 'order-created-twice');
    expect(logged).toMatchObject([{ order: 'PO-0001', times: 2, level: 40 }]);
  });

  it('accepts an order of a ledger that was rolled back, created twice or not: its attempt may be what was lost', async () => {
    await using rig = await openDeliveryRig({ isNew: true });
    await rig.submit('b1', ['PO-0001', 'PO-0002']);
    const listed = ['PO-0001', 'PO-0001', 'PO-0002'].map((number) => ({
      purchaseOrderNumber: number,
      digest: digestOf(orderOf(number)),
    }));
    await rig.reconciliation.rebuild.takeIn(listed, { isIntact: false });
    expect(await rig.batches.find('b1')).toMatchObject({ counts: { accepted: 2, duplicate: 0 } });
    expect(await rig.batches.results('b1', [0, 1])).toMatchObject([
      { code: 'created-twice' },
      undefined,
    ]);
  });

  it('sends nothing after a flush until the list has been read, and nothing twice afterwards', async () => {
    await using rig = await openDeliveryRig();
    await using _mending = mending(rig);
    const numbers = numbersOf(40);
    await rig.submit('b1', numbers);
    await rig.settled();
    await rig.store.redis.flushall();
    // Whoever reads its files again knows nothing of what was sent; the first intent meets the new epoch.
    await rig.submit('b2', [...numbers, 'PO-NEW']);
    await until('the hold', () => rig.breaker.current()?.code === 'ledger-rolled-back');
    await until('the log line', () =>
      rig.lines.some(({ event }) => event === 'ledger-rolled-back'),
    );
    expect(rig.lines.filter(({ event }) => event === 'ledger-rolled-back')).toHaveLength(1);
    const before = rig.events.filter(({ type }) => type === 'received').length;
    await until('the end of the hold', () => rig.breaker.current() === undefined);
    const waiting = await rig.store.redis.zrange(rig.store.keys.due, 0, '-1');
    for (const number of waiting)
      await rig.store.redis.zadd(rig.store.keys.due, rig.store.time.now(), number);
    await rig.settled();
    expect(rig.stored()).toEqual(new Map([...numbers, 'PO-NEW'].map((number) => [number, 1])));
    expect(rig.events.filter(({ type }) => type === 'received')).toHaveLength(before + 1);
  });

  it('waits as long as the rollback asked for by the clock of this process, not only by ledger time', async () => {
    await using rig = await openDeliveryRig();
    const { redis, keys } = rig.store;
    await redis.hset(keys.rebuild, {
      why: 'rolled-back',
      epoch: 'L',
      notBefore: 0,
      wait: 3_600_000,
    });
    expect(await rig.reconciliation.rebuild.tick()).toBe('pending');
    await redis.hset(keys.rebuild, { wait: 0 });
    expect(await rig.reconciliation.rebuild.tick()).toBe('done');
  });

  it('sends no order that had passed the circuit breaker and waited for its turn when the flush was noticed', async () => {
    await using rig = await openDeliveryRig({ environment: { rateLimit: { max: 10, per: 1000 } } });
    const numbers = numbersOf(8);
    await rig.submit('b1', numbers);
    await rig.settled();
    await rig.store.redis.flushall();
    await rig.submit('b2', numbers);
    await until('the hold', () => rig.breaker.current()?.code === 'ledger-rolled-back');
    // Long enough for the turn of each.
    await until('the turns', async () => (await rig.queue.waiting()) === 0);
    await delay(1_000);
    expect(rig.stored()).toEqual(new Map(numbers.map((number) => [number, 1])));
  });

  it('waits for a person if the list is unavailable after a rollback', async () => {
    await using rig = await openDeliveryRig({
      faults: { faults: [{ kind: 'answer', on: 'list', status: 403 }] },
    });
    await using _mending = mending(rig);
    await rig.submit('b1', numbersOf(5));
    await rig.settled();
    await rig.store.redis.flushall();
    await rig.submit('b2', numbersOf(5));
    await until('the reason', () => rig.breaker.current()?.code === 'list-not-offered');
    expect(rig.events.filter(({ type }) => type === 'received')).toHaveLength(5);
  });

  it('starts a new ledger without the list if the configuration says that there is none', async () => {
    const faults = { faults: [{ kind: 'answer', on: 'list', status: 405 }] };
    await using rig = await openDeliveryRig({ faults, isNew: true, environment: { list: 'none' } });
    await rig.reconciliation.rebuild.first(new AbortController().signal);
    await rig.submit('b1', numbersOf(5));
    await rig.settled();
    expect(rig.stored().size).toBe(5);
  });
});
