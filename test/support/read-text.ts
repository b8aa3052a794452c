import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Mapping } from '../../src/config/config.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { type Inspection, inspectOrders } from '../../src/correct/inspection.ts';
import { readOrders } from '../../src/correct/read-orders.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { makeTempFolder } from './temp-folder.ts';

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

export type ReadFile = { inspection: Inspection; orders: CheckedOrder[] };

/** Both passes over a file with this content. */
export async function readText(content: string | Buffer, mapping?: Mapping): Promise<ReadFile> {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  await writeFile(file, content);
  const inspection = await inspectOrders(file, mapping ? [{ name: 'erp', mapping }] : []);
  const orders: CheckedOrder[] = [];
  for await (const order of readOrders(file, inspection)) orders.push(order);
  return { inspection, orders };
}
