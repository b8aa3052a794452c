import { createRecordKind } from './record-kind.ts';

/** Purchase orders, the one kind of record whose calls the API documents (docs/purchase-order-api.md parts 2 to 4). */
export const PURCHASE_ORDER = createRecordKind({
  path: '/purchase-orders',
  fields: {
    number: 'purchaseOrderNumber',
    state: 'orderState',
    items: 'items',
    article: 'articleCode',
    quantity: 'quantity',
  },
  state: 'NEW',
});
