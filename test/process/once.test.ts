import { expect, it } from 'vitest';
import { csvOf, openWorkplace } from '../support/workplace.ts';

function jsonOf(count: number, first: number): string {
  const orders = Array.from({ length: count }, (_, i) => ({
    purchaseOrderNumber: `PO-${first + i}`,
    orderState: 'NEW',
    items: [
      { articleCode: 'A', quantity: 1 },
      { articleCode: 'B', quantity: (i % 5) + 1 },
    ],
  }));
  return JSON.stringify(orders);
}

it('start --once brings 2,000 orders of a CSV and 2,000 of a JSON file to the API, each once, and ends with 0', async () => {
  await using place = await openWorkplace({ redis: 'private' });
  await place.drop('orders.csv', csvOf(2000));
  await place.drop('orders.json', jsonOf(2000, 100_001));
  const { code, err } = await place.spawn(['start', '--once']).ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const stored = place.stored();
  expect(stored.size).toBe(4000);
  expect(new Set(stored.values())).toEqual(new Set([1]));
  const reports = await place.reportsNow();
  expect(reports.map(({ state, counts }) => [state, counts.orders, counts.accepted])).toEqual([
    ['finished', 2000, 2000],
    ['finished', 2000, 2000],
  ]);
});
