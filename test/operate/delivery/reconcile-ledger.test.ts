import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdoption, existingOf } from '../../../src/ledger/adopt.ts';
import { createBatches } from '../../../src/ledger/batches/batches.ts';
import { createLedger, type Ledger } from '../../../src/ledger/ledger.ts';
import { compareWithList } from '../../../src/operate/delivery/reconcile-ledger.ts';
import { entryOf, orderOf } from '../../support/entry.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';

const SETTLE = 1000;
const LATER = 1_000_000;
const items = orderOf('x').items;

describe('comparing the ledger with the list', () => {
  let store: OpenRedis;
  let ledger: Ledger;

  beforeAll(async () => {
    store = await openTestRedis();
    ledger = createLedger(store);
    const adopt = createAdoption(store);
    await adopt(
      [{ purchaseOrderNumber: 'old', items }, { purchaseOrderNumber: 'bare' }].map(existingOf),
      1000,
    );
    await adopt([{ purchaseOrderNumber: 'gone', items }].map(existingOf), 2000);
    await adopt([{ purchaseOrderNumber: 'young', items }].map(existingOf), LATER - SETTLE);
    const { no } = await createBatches({ ...store, owner: 'x' }).begin(
      { batch: 'b1', source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' },
      1000,
    );
    for (const [ordinal, state] of (
      ['queued', 'sending', 'unknown', 'refused', 'inDoubt'] as const
    ).entries()) {
      const entry = entryOf({ order: orderOf(state), batch: 'b1', batchNo: no, ordinal });
      await ledger.enter(entry, undefined, 5000);
      await ledger.take(entry, { kind: 'move', entry: { ...entry, version: 2, state }, due: 5000 });
    }
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const compare = (...listed: Parameters<typeof compareWithList>[0]) =>
    compareWithList(listed, LATER, SETTLE, {
      store: {
        ...store,
        plain: store.redis,
        private: false,
        isSteady: () => true,
      },
      ledger,
    });
  const listed = (purchaseOrderNumber: string, quantity = 1) => ({
    purchaseOrderNumber,
    items: orderOf('x', quantity).items,
  });

  it('finds accepted orders that are not in the list, except recent ones', async () => {
    expect(await compare(listed('old'), { purchaseOrderNumber: 'bare' })).toEqual({
      listed: 2,
      accepted: 4,
      young: 1,
      inProgress: 0,
      missing: [{ order: 'gone', acceptedAt: 2000 }],
      unknown: [],
      differing: [],
      twice: [],
    });
  });

  it('finds listed orders that are unknown or have other items', async () => {
    const all = [
      listed('old', 7),
      listed('bare', 9),
      listed('gone'),
      listed('young'),
      listed('new'),
    ];
    expect(await compare(...all)).toMatchObject({
      missing: [],
      unknown: [{ order: 'new' }],
      differing: [{ order: 'old', here: 'accepted', sameItems: false }],
    });
  });

  it('finds listed orders that are not accepted here, except those in progress', async () => {
    const all = ['old', 'bare', 'gone', 'queued', 'sending', 'unknown', 'refused', 'inDoubt'].map(
      (one) => listed(one),
    );
    expect((await compare(...all)).inProgress).toBe(2);
    expect((await compare(...all, listed('refused', 3))).differing).toEqual([
      { order: 'queued', here: 'queued', sameItems: true },
      { order: 'refused', here: 'refused', sameItems: true },
      { order: 'inDoubt', here: 'inDoubt', sameItems: true },
      { order: 'refused', here: 'refused', sameItems: false },
    ]);
  });

  it('finds orders that the list shows more than once', async () => {
    const { twice } = await compare(listed('old'), listed('bare'), listed('old'), listed('old'));
    expect(twice).toEqual([{ order: 'old', times: 3 }]);
  });

  it('finds no difference if the list does not show items', async () => {
    expect(
      (await compare({ purchaseOrderNumber: 'old' }, { purchaseOrderNumber: 'gone' })).differing,
    ).toEqual([]);
  });
});
