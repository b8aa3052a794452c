import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Mapping } from '../../src/config/config.ts';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import type { Inspection } from '../../src/parse/inspection.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { makeTempFolder } from './temp-folder.ts';

/** A mapping as a configuration would give it, from what differs from the defaults. */
export function mappingOf(settings: Parameters<typeof mappingSchema.parse>[0] = {}): Mapping {
  return mappingSchema.parse(settings);
}

export type ReadFile = { inspection: Inspection; orders: CheckedOrder[] };

/** Both passes over a file with this content. Throws when the first pass counted other orders than the second one reads. */
export async function readText(content: string | Buffer, mapping?: Mapping): Promise<ReadFile> {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders');
  await writeFile(file, content);
  const inspection = await inspectFile(file, mapping);
  const orders: CheckedOrder[] = [];
  for await (const order of readOrders(file, inspection)) orders.push(order);
  if (inspection.orders !== orders.length)
    throw new Error(
      `the first pass counted ${inspection.orders} orders, the second one read ${orders.length}`,
    );
  return { inspection, orders };
}

/** Why a file with this content is unreadable: code, line and column. */
export async function whyUnreadable(
  content: string | Buffer,
  mapping?: Mapping,
): Promise<Record<string, unknown>> {
  try {
    const { inspection } = await readText(content, mapping);
    return { code: 'readable', records: inspection.records };
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const { line, column } = error.facts;
    return {
      code: error.code,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    };
  }
}

/** What would be sent, and in short what is wrong: `8 quantity not-a-number`. */
export function inShort(orders: readonly CheckedOrder[]): unknown[] {
  return orders.map((order) =>
    order.valid
      ? order.order
      : {
          [order.number]: order.problems.map(({ line, field, code }) =>
            `${line} ${field} ${code}`.replace('  ', ' '),
          ),
        },
  );
}
