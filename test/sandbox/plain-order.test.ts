import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainOrder } from '../../src/sandbox/read-order.ts';
import { purchaseOrderSchema } from '../../src/sandbox/schemas.ts';
import { runs } from '../support/runs.ts';

const plainText = fc.stringMatching(/^[ !#-[\]-~]{1,6}$/);
const text = fc.oneof(
  { weight: 12, arbitrary: plainText },
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom('', '"', '\\', '\t', '\u007f', 'ä', 'x'.repeat(256), 'x'.repeat(257)),
);
const quantity = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -1, max: 200 }) },
  fc.double(),
  fc.constantFrom(2 ** 53 - 1, 2 ** 53, 1e15, 999_999_999_999_999, '1'),
);
const item = fc.record({ articleCode: text, quantity });
const order = fc.record({
  purchaseOrderNumber: text,
  orderState: fc.constantFrom('NEW', 'NEW', 'NEW', 'OLD'),
  items: fc.array(item, { maxLength: 3 }),
});
/** Texts near a plain order: itself, with a character changed, spaced out, or with a field more. */
const body = fc.oneof(
  order.map((value) => JSON.stringify(value)),
  order.map((value) => JSON.stringify(value, null, 1)),
  order.map((value) => JSON.stringify({ ...value, more: 1 })),
  fc
    .tuple(order, fc.nat(), fc.constantFrom('', '0', '"', '}', ']', ',', '\\', '\n', 'ä'))
    .map(([value, at, put]) => {
      const written = JSON.stringify(value);
      const place = at % written.length;
      return written.slice(0, place) + put + written.slice(place + 1);
    }),
);

test('the fast path accepts only what the schema accepts, and stores the same order', () => {
  let taken = 0;
  fc.assert(
    fc.property(body, (written) => {
      const plain = plainOrder(Buffer.from(written));
      if (plain === undefined) return;
      taken += 1;
      const { purchaseOrderNumber, orderState, items } = purchaseOrderSchema.parse(
        JSON.parse(written),
      );
      expect(plain).toEqual({
        number: purchaseOrderNumber,
        state: orderState,
        items: JSON.stringify(items),
      });
    }),
    { numRuns: runs(20_000) },
  );
  expect(taken).toBeGreaterThan(runs(1_000));
});

test('an order as written by JSON.stringify takes the fast path', () => {
  const plain = (value: unknown) => plainOrder(Buffer.from(JSON.stringify(value)));
  const items = [
    { articleCode: 'A-1', quantity: 1 },
    { articleCode: ' {[}],:', quantity: 999_999_999_999_999 },
  ];
  expect(plain({ purchaseOrderNumber: '4711', orderState: 'NEW', items })).toEqual({
    number: '4711',
    state: 'NEW',
    items: JSON.stringify(items),
  });
});

test('a very long body takes the schema, which has no length limit', () => {
  const items = Array.from({ length: 20_000 }, () => ({ articleCode: 'A', quantity: 1 }));
  const long = Buffer.from(JSON.stringify({ purchaseOrderNumber: '1', orderState: 'NEW', items }));
  expect(plainOrder(long)).toBe(undefined);
});
