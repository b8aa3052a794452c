import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Compact, encodeCompact } from '../../src/ledger/entry.ts';
import { createExcuse } from '../../src/ledger/retention.ts';
import { compareLedger } from '../../src/reconcile/compare-ledger.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

const SETTLE = 1_000;
/** Each took 10 ms, but C and D were under way at the same time. */
const CREATED = { A: 100, B: 200, C: 300, D: 305, E: 400 };
const FROM = 10_000;

describe('a complete list, compared with the orders that po-sync created', () => {
  let store: OpenRedis;

  const enter = async (order: Pick<Compact, 'number' | 'at' | 'since'>) => {
    const key = store.keys.keyOf(order.number);
    const text = encodeCompact({ ...order, digest: 'd'.repeat(16), attempts: 1, batchNo: 1 }, key);
    await store.redis.hset(store.keys.settled(order.number), key, text);
  };

  const lackedBy = async (shown: string, reach?: number) => {
    const { take, compare } = compareLedger(store);
    for (const purchaseOrderNumber of shown) take({ purchaseOrderNumber });
    return (await compare({ from: FROM, settle: SETTLE, reach })).lacked;
  };

  beforeAll(async () => {
    store = await openTestRedis();
    for (const [number, since] of Object.entries(CREATED))
      await enter({ number, since, at: since + 10 });
    await enter({ number: 'Y', since: FROM - SETTLE, at: FROM - SETTLE });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it.each([
    ['that shows all', 'ABCDEY', undefined],
    ['that lacks only what is too young', 'ABCDE', undefined],
    ['that has other spellings and more orders', 'abcdeX', undefined],
    ['of the oldest only', 'ABCY', 'E'],
    ['that lacks one in between', 'ABDE', 'C'],
    ['that lacks all', 'X', 'E'],
    ['of the newest only, as an archive leaves them', 'CDE', undefined],
    ['whose archive ends among orders that were under way together', 'CE', undefined],
    ['that lacks one after the end of an archive', 'CD', 'E'],
    ['that shows only what is too young', 'Y', 'E'],
  ])('%s', async (_, shown, lacked) => {
    expect(await lackedBy(shown)).toBe(lacked);
  });

  it('an archive must show an order that an earlier list had, too', async () => {
    expect(await lackedBy('DE', 314)).toBe('C');
    expect(await lackedBy('DE', 315)).toBeUndefined();
  });

  it('who only looks sees what an archive lacks', async () => {
    expect(await lackedBy('CDE', Number.NEGATIVE_INFINITY)).toBe('B');
    expect(await lackedBy('ABCDE', Number.NEGATIVE_INFINITY)).toBeUndefined();
  });

  it('need not show an order that only a person, or another list, says was created, or one that a person excused', async () => {
    await enter({ number: 'T', at: 500 });
    expect(await lackedBy('ABCDE')).toBeUndefined();
    await createExcuse(store)(['E']);
    expect(await lackedBy('ABCD')).toBeUndefined();
    expect(await lackedBy('ABC')).toBe('D');
  });
});
