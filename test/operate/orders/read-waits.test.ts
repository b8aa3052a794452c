import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OPERATOR } from '../../../src/deliver/circuit-breaker.ts';
import { readWaits } from '../../../src/operate/orders/read-waits.ts';
import { type DeliveryRig, openDeliveryRig } from '../../support/delivery-rig.ts';
import { entryOf, orderOf } from '../../support/entry.ts';

const BATCHES = ['20261121T071500Z-inbox-a-00000001', '20261121T071600Z-inbox-b-00000002'] as const;

describe('the orders that wait', () => {
  let rig: DeliveryRig;

  beforeEach(async () => {
    rig = await openDeliveryRig();
    await rig.breaker.hold(OPERATOR, 'paused by the test');
    for (const batch of BATCHES) {
      const file = { batch, source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' } as const;
      await rig.batches.begin(file, rig.store.time.now());
    }
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('are counted by what they wait for, each group with its oldest order', async () => {
    const { ledger, store } = rig;
    const soon = store.time.now() + 60_000;
    const late = entryOf({ order: orderOf('B'), batch: BATCHES[1], batchNo: 2 });
    for (const number of ['B', 'C']) await ledger.enter({ ...late, order: orderOf(number) }, undefined, soon);
    const early = entryOf({ order: orderOf('A'), batch: BATCHES[0], batchNo: 1 });
    await ledger.enter(early, undefined, soon);
    const place = { line: 2 };
    const follower = { batch: BATCHES[1], batchNo: 2, ordinal: 7, place };
    const repeats = { outcome: 'duplicate', attempts: 0, at: 0, code: '', message: '' } as const;
    expect(await ledger.followers.follow([{ entry: early, follower, repeats }])).toEqual([true]);
    expect(await readWaits(rig)).toEqual([
      {
        for: 'pause',
        reason: 'paused by the test',
        orders: 3,
        oldest: { order: 'A', batch: BATCHES[0], since: Date.parse('2026-11-21T07:15:00Z') },
      },
      {
        for: 'order',
        reason: 'the same order of another file has no outcome yet',
        orders: 1,
        oldest: { order: 'A', batch: BATCHES[1], since: Date.parse('2026-11-21T07:16:00Z') },
      },
    ]);
    expect(await ledger.followers.batchesWaitingFor('A')).toEqual([BATCHES[1]]);
  });
});
