import { describe, expect, it } from 'vitest';
import { listed, type OddAnswer, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace } from './trouble-place.ts';

describe.concurrent('a new ledger reads the list before its first order', () => {
  it.each<[string, number, OddAnswer]>([
    ['answers 500', 3, { status: 500 }],
    ['is a list of bare strings', 3, { status: 200, body: listed(['PO-1', 'PO-2']) }],
    ['drops connections', 3, { drop: true }],
  ])('a first start while the list %s for %d s', async (_, seconds, odd) => {
    let begin: number | undefined;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'list') return undefined;
      begin ??= performance.now();
      return performance.now() - begin < seconds * 1_000 ? odd : undefined;
    });
    const numbers = numbered(20);
    for (const purchaseOrderNumber of numbers) {
      api.stored.push({
        purchaseOrderNumber,
        orderState: 'NEW',
        items: [{ articleCode: 'ART-1', quantity: 1 }],
      });
    }
    await using place = await openTroublePlace(api);
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers);
    expect(api.stored).toHaveLength(20);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['duplicate']));
  });

  it('a first start where the list is not offered sends nothing until it is', async () => {
    let isOffered = false;
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'list' && !isOffered ? { status: 403 } : undefined,
    );
    await using place = await openTroublePlace(api, { environment: 'list: prove' });
    const numbers = numbered(5);
    await place.drop('orders.csv', csv(numbers));
    await until('the pause', () => place.daemon.out().includes('"code":"list-not-offered"'));
    expect(api.stored).toEqual([]);
    isOffered = true;
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
  });
});
