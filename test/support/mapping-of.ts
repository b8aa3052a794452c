import type { Mapping } from '../../src/config/config.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';

/** The API's own names as columns. */
export const API_COLUMNS = {
  purchaseOrderNumber: { is: 'purchaseOrderNumber' },
  articleCode: { is: 'articleCode' },
  quantity: { is: 'quantity' },
} as const;

/** A mapping as a configuration would give it, from what differs from the API's own names. */
export function mappingOf(settings: Parameters<typeof mappingSchema.parse>[0] = {}): Mapping {
  return mappingSchema.parse({ columns: API_COLUMNS, ...Object(settings) });
}
