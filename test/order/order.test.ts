import { expect, it } from 'vitest';
import { payloadOf } from '../../src/order/order.ts';

it('an order is sent as exactly the documented fields in their order', () => {
  const items = [{ articleCode: 'A', quantity: 1.5, more: 1 }];
  expect(payloadOf({ purchaseOrderNumber: '1', orderState: 'NEW', items })).toBe(
    '{"purchaseOrderNumber":"1","orderState":"NEW","items":[{"articleCode":"A","quantity":1.5}]}',
  );
});
