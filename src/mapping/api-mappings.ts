import { type Mapping, mappingSchema } from '../config/mapping-schema.ts';

/** Without a mapping, a file has the API's own names; objects are orders, or else rows. */
export function apiMappings(isObjects: boolean): Mapping[] {
  const rows = mappingOf('');
  return isObjects ? [{ ...mappingOf('items.'), items: 'items' }, rows] : [rows];
}

function mappingOf(inside: string): Mapping {
  return mappingSchema.parse({
    columns: {
      purchaseOrderNumber: { is: 'purchaseOrderNumber' },
      orderState: { is: 'orderState' },
      [`${inside}articleCode`]: { is: 'articleCode' },
      [`${inside}quantity`]: { is: 'quantity' },
    },
  });
}
