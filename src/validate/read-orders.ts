import type { Mapping } from '../config/config.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { Inspection, JsonReading, TableReading } from '../parse/inspection.ts';
import { readRecords } from '../parse/records.ts';
import { type CheckedRow, checkRow } from './check-row.ts';
import { groupRows } from './group-rows.ts';
import { openLateRecords } from './late-records.ts';
import { createObjectOrders } from './object-orders.ts';

export type ReadOptions = { signal?: AbortSignal };

/**
 * The second pass over an inspected file: its orders, joined from their rows and checked, one at a time. Ordinals count
 * from 0 and are the same whenever the same bytes are read.
 * PoSyncError `file-changed` when the file changed since it was inspected: inspect it again.
 */
export async function* readOrders(
  path: string,
  inspection: Inspection,
  options: ReadOptions = {},
): AsyncGenerator<CheckedOrder> {
  for await (const page of readOrderPages(path, inspection, options)) yield* page;
}

/** As `readOrders`, in pages as they come out of the file; a page may be empty. */
export async function* readOrderPages(
  path: string,
  inspection: Inspection,
  { signal }: ReadOptions = {},
): AsyncGenerator<CheckedOrder[]> {
  const { reading, mapping } = inspection;
  const pages = readRecords(path, inspection, signal);
  switch (reading.kind) {
    case 'table':
      return yield* tableOrders(pages, reading, mapping);
    case 'json':
      return yield* objectOrders(pages, reading, mapping);
  }
}

type Pages = ReturnType<typeof readRecords>;
type Guess = { isGuess: boolean };

async function* tableOrders(pages: Pages, reading: TableReading & Guess, mapping: Mapping) {
  using late = openLateRecords();
  const rules = { table: reading, mapping };
  const groups = groupRows({ reading, rules, late });
  for await (const { records } of pages) {
    const rows: CheckedRow[] = [];
    for (const record of records) if (record.kind === 'row') rows.push(checkRow(record, rules));
    yield groups.add(rows);
  }
  yield* groups.finish();
}

async function* objectOrders(pages: Pages, reading: JsonReading & Guess, mapping: Mapping) {
  using late = openLateRecords();
  const orders = createObjectOrders(reading, late);
  for await (const { records, lineOf } of pages) {
    const objects = records.filter((record) => record.kind === 'object');
    yield orders.add(objects, { mapping, isGuess: reading.isGuess, lineOf });
  }
  yield* orders.finish();
}
