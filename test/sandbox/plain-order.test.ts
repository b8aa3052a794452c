import fc from 'fast-check';
import { expect, test } from 'vitest';
import { purchaseOrderSchema } from '../../src/sandbox/contract.ts';
import { plainOrder } from '../../src/sandbox/plain-order.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: 'grapheme', minLength: 250, maxLength: 260 }),
  fc.constantFrom('', '\ud800', '\u0085', '🙂'.repeat(256), '🙂'.repeat(257)),
);
const quantity = fc.oneof(
  fc.double(),
  fc.integer({ min: -1, max: 2 }),
  fc.constantFrom(2 ** 53, 2 ** 53 - 1, '1', null),
);
const item = fc.record({ articleCode: text, quantity, more: fc.constant(1) }, { requiredKeys: ['articleCode'] });
const order = fc.record(
  {
    purchaseOrderNumber: fc.oneof(text, fc.constant(7)),
    orderState: fc.constantFrom('NEW', 'NEW', 'NEW', 'OLD'),
    items: fc.oneof(fc.array(item, { maxLength: 3 }), fc.constant({})),
    more: fc.constant(1),
  },
  { requiredKeys: ['purchaseOrderNumber', 'orderState'] },
);

test('what is taken without the schema is what the schema takes, as it takes it', () => {
  fc.assert(
    fc.property(order, (value) => {
      const plain = plainOrder(value);
      if (plain === undefined) return;
      expect(purchaseOrderSchema.parse(value)).toEqual(plain);
    }),
    { numRuns: 5000 },
  );
});

test('what the schema takes as it is needs no schema', () => {
  fc.assert(
    fc.property(order, (value) => {
      const checked = purchaseOrderSchema.safeParse(value);
      if (!checked.success || JSON.stringify(checked.data) !== JSON.stringify(value)) return;
      expect(plainOrder(value)).toEqual(checked.data);
    }),
    { numRuns: 5000 },
  );
});
