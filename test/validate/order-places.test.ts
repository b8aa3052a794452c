import { expect, test } from 'vitest';
import type { Former } from '../../src/order/digest.ts';
import { hasItem, looseRowsIn, rowsBeside } from '../../src/validate/order-places.ts';

test('of many rows without a number in one order, only those at its ends have others beside them', () => {
  const places = Array.from({ length: 10_000 }, (_, at) => `line ${at + 3}`);
  const formers = new Map(
    places.map((place) => [place, { number: '', digest: '' } as unknown as Former]),
  );
  const lacks = [{ kind: 'in-doubt' as const, what: '', row: 'line 2', more: 0 }];
  const beside = rowsBeside(new Set(places), {
    incomplete: new Map(places.map((place) => [place, lacks])),
    numbered: new Set(places),
    loose: looseRowsIn({ formers }),
  });
  expect(beside).toEqual([
    { row: 'line 2', away: -1 },
    { row: 'line 3', away: -1 },
    { row: 'line 10002', away: 1 },
  ]);
});

test.each([
  [
    ['line 10', 'line 9', 'line 101'],
    ['line 9', 'line 10', 'line 101'],
  ],
  [
    ['/orders/10', '/orders/2', '/orders/101'],
    ['/orders/2', '/orders/10', '/orders/101'],
  ],
])('rows are in the sequence of their file: %j', (given, [first = '', second = '', third]) => {
  const loose = looseRowsIn({
    formers: new Map(given.map((place) => [place, { number: '' } as Former])),
  });
  expect([loose.next(first, 1), loose.next(second, 1), loose.next(first, -1)]).toEqual([
    second,
    third,
    undefined,
  ]);
});

test.each([
  '"orders.csv"',
  '"orders (1).csv"',
  String.raw`"a\" (b, c).csv"`,
  'batch 20261121T071500Z-erp-orders-3f2a91c0',
])('a row of %s that an order may lack is known by its article and quantity', (title) => {
  const at = { articleCode: 0, quantity: 1 } as Parameters<typeof hasItem>[2];
  const lack = {
    kind: 'in-doubt' as const,
    what: `line 5 of ${title} (A-1, 4, 7) waits for a person`,
    more: 0,
  };
  const has = (...cells: string[]) =>
    hasItem({ ...lack, row: undefined }, { kind: 'row', cells } as never, at);
  expect([has('A-1', ' 4'), has('A-1', '7'), has('4', 'A-1')]).toEqual([true, false, false]);
});
