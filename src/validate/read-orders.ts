import { type Mapping, plainMapping } from '../config/config.ts';
import type { CheckedOrder } from '../order/checked-order.ts';
import type { SourceRecord } from '../order/record.ts';
import type { Inspection, TableReading } from '../parse/inspection.ts';
import { readRecords } from '../parse/records.ts';
import { checkObject, type LineOf } from './check-object.ts';
import { type CheckedRow, rowChecker } from './check-row.ts';
import { groupRows } from './group-rows.ts';
import { openNonContiguousRows } from './non-contiguous-rows.ts';

export type ReadOptions = {
  signal?: AbortSignal;
  /** Bytes of rows that stand apart from their order's other rows, kept in memory; more goes to disk. */
  memory?: number;
};

const MEMORY = 4 * 1024 * 1024;

/**
 * The second pass over a proved file: its orders, joined from their rows and checked, one at a time. Ordinals count
 * from 0 and are the same whenever the same bytes are read.
 * PoSyncError `file-changed` when the file is no longer the one that was proved: prove it again.
 */
export async function* readOrders(
  path: string,
  inspection: Inspection,
  mapping: Mapping | undefined,
  options: ReadOptions = {},
): AsyncGenerator<CheckedOrder> {
  for await (const page of readOrderPages(path, inspection, mapping, options)) yield* page;
}

/** As `readOrders`, in pages as they come out of the file; a page may be empty. */
export async function* readOrderPages(
  path: string,
  inspection: Inspection,
  mapping: Mapping | undefined,
  options: ReadOptions = {},
): AsyncGenerator<CheckedOrder[]> {
  const { reading } = inspection;
  switch (reading.kind) {
    case 'table':
      return yield* tableOrders(path, inspection, reading, mapping ?? plainMapping(), options);
    case 'json':
      return yield* objectOrders(path, inspection, mapping ?? plainMapping(), options);
    case 'empty':
      return;
  }
}

async function* tableOrders(
  path: string,
  inspection: Inspection,
  reading: TableReading,
  mapping: Mapping,
  { signal, memory = MEMORY }: ReadOptions,
): AsyncGenerator<CheckedOrder[]> {
  const check = rowChecker(reading.columns, mapping);
  const seed = Number.parseInt(inspection.sha256.slice(0, 8), 16);
  await using store = openNonContiguousRows({ memory, seed, check });
  const groups = groupRows(reading, store);
  for await (const { records } of readRecords(path, inspection, signal)) {
    const rows: CheckedRow[] = [];
    for (const record of records) if (record.kind === 'row') rows.push(check(record));
    yield await groups.add(rows);
  }
  yield* groups.finish();
}

async function* objectOrders(
  path: string,
  inspection: Inspection,
  mapping: Mapping,
  { signal }: ReadOptions,
): AsyncGenerator<CheckedOrder[]> {
  let ordinal = 0;
  for await (const { records, lineOf } of readRecords(path, inspection, signal)) {
    yield records.flatMap((record) =>
      record.kind === 'object' ? [objectOrder(record, ordinal++, mapping, lineOf)] : [],
    );
  }
}

/** In JSON each object is an order of its own. */
function objectOrder(
  record: Extract<SourceRecord, { kind: 'object' }>,
  ordinal: number,
  mapping: Mapping,
  lineOf: LineOf,
): CheckedOrder {
  const { number, items, problems } = checkObject(record, mapping, lineOf);
  const common = { ordinal, number, place: record.place, records: [record] };
  if (items === undefined) return { ...common, valid: false, problems };
  return { ...common, valid: true, order: { purchaseOrderNumber: number, orderState: 'NEW', items } };
}
