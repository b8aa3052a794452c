import { type Mapping, mappingSchema } from '../config/mapping-schema.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';

const { number, state, items, article, quantity } = PURCHASE_ORDER.fields;

/** Without a mapping, a file has the API's own names; objects are orders, or else rows. */
export function apiMappings(isObjects: boolean): Mapping[] {
  const rows = mappingOf('');
  return isObjects ? [{ ...mappingOf(`${items}.`), items }, rows] : [rows];
}

function mappingOf(inside: string): Mapping {
  return mappingSchema.parse({
    columns: {
      [number]: { is: 'purchaseOrderNumber' },
      [state]: { is: 'orderState' },
      [`${inside}${article}`]: { is: 'articleCode' },
      [`${inside}${quantity}`]: { is: 'quantity' },
    },
  });
}
