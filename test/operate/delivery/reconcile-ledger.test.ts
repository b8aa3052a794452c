import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedOrder } from '../../../src/api/list.ts';
import { createAdoption, existingOf } from '../../../src/ledger/adopt.ts';
import { createBatches } from '../../../src/ledger/batches/batches.ts';
import { encodeCompact } from '../../../src/ledger/entry.ts';
import { createLedger, type Ledger } from '../../../src/ledger/ledger.ts';
import { compareWithList } from '../../../src/operate/delivery/reconcile-ledger.ts';
import { lookingList } from '../../../src/reconcile/list-proof.ts';
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

  it('an order that the list spells in another way is in the list', async () => {
    const { missing, unknown } = await compare(listed('OLD'), listed('Bare'), listed('gone '));
    expect({ missing, unknown }).toEqual({ missing: [], unknown: [] });
  });

  it('who reads a list learns that it lacks an order that it must show', async () => {
    await store.redis.hset(store.keys.identity, 'epoch', 'x');
    const created = { number: 'mine', digest: 'd'.repeat(16), attempts: 1, at: 1500, batchNo: 1 };
    const text = encodeCompact({ ...created, since: 1400 }, store.keys.keyOf('mine'));
    await store.redis.hset(store.keys.settled('mine'), store.keys.keyOf('mine'), text);
    const rules = { mode: 'prove' as const, settle: SETTLE };
    const unproved = async (...shown: string[]) => {
      const list = async (onOrder: (order: ListedOrder) => void) => {
        for (const one of shown) onOrder({ purchaseOrderNumber: one });
        return { kind: 'complete' as const, orders: shown.length };
      };
      return (await lookingList(store, rules, list, () => LATER)(() => undefined)).unproved;
    };
    expect(await unproved('old')).toEqual({ code: 'list-incomplete', facts: { order: 'mine' } });
    expect(await unproved('MINE')).toBeUndefined();
    await store.redis.hdel(store.keys.settled('mine'), store.keys.keyOf('mine'));
  });

  it('who says how many orders there are reads a list whose pages cannot be read', async () => {
    const rules = { mode: 'prove' as const, settle: SETTLE };
    const list = async (onOrder: (order: ListedOrder) => void, { limit = 2 } = {}) => {
      for (const purchaseOrderNumber of ['a', 'b'].slice(0, limit))
        onOrder({ purchaseOrderNumber });
      return { kind: 'complete' as const, orders: Math.min(2, limit) };
    };
    const read = () => lookingList(store, rules, list, () => LATER)(() => undefined);
    await store.redis.hset(store.keys.listProof, { paging: 'yes', expect: 3 });
    expect(await read()).toMatchObject({ kind: 'failed', said: { code: 'list-unstable' } });
    await store.redis.hset(store.keys.listProof, { expect: 2 });
    expect(await read()).toMatchObject({ kind: 'complete', orders: 2 });
    await store.redis.del(store.keys.listProof);
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
