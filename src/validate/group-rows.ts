import type { CheckedOrder } from '../order/checked-order.ts';
import { LIMITS } from '../order/limits.ts';
import type { Item } from '../order/order.ts';
import { createPager } from '../order/pager.ts';
import type { SourceRecord } from '../order/record.ts';
import type { TableReading } from '../parse/inspection.ts';
import type { CheckedRow } from './check-row.ts';
import type { NonContiguousRows } from './non-contiguous-rows.ts';
import { problemOf } from './problem.ts';

/** Joins rows of one order number to orders, in the file's order; what stands apart comes at the end. */
export type RowGroups = {
  /** The orders that are whole with these rows. */
  add(rows: readonly CheckedRow[]): Promise<CheckedOrder[]>;
  /** The rest, after the last row. */
  finish(): AsyncGenerator<CheckedOrder[]>;
};

/** Orders handed out in one go at the end. */
const PAGE = 500;

/**
 * `apart` tells which numbers have rows that do not follow each other; those wait in `store`. `shifted` tells to which
 * numbers a row of the wrong width may belong, with its line.
 */
export function groupRows(
  { apart, shifted }: Pick<TableReading, 'apart' | 'shifted'>,
  store: NonContiguousRows,
): RowGroups {
  let run: CheckedRow[] = [];
  let ordinal = 0;

  /** The run is over: its order, if all of it is there. */
  function endRun(): CheckedOrder | undefined {
    const [first] = run;
    if (first === undefined) return undefined;
    const rows = run;
    run = [];
    if (first.number === '' || !apart.has(first.number)) return orderOf(rows, ordinal++, shifted);
    store.add(rows);
    return undefined;
  }

  return {
    async add(rows) {
      const orders: CheckedOrder[] = [];
      for (const row of rows) {
        if (run.length > 0 && (row.number === '' || run[0]?.number !== row.number)) {
          const order = endRun();
          if (order) orders.push(order);
        }
        run.push(row);
      }
      await store.relieve();
      return orders;
    },
    async *finish() {
      const pager = createPager(PAGE);
      const last = endRun();
      if (last) yield* pager.add(last);
      for await (const rows of store.drain()) yield* pager.add(orderOf(rows, ordinal++, shifted));
      yield pager.rest();
    },
  };
}

/** One order from all its rows: if any of them is wrong, the whole order is. */
function orderOf(rows: readonly CheckedRow[], ordinal: number, shifted: TableReading['shifted']): CheckedOrder {
  const records: SourceRecord[] = [];
  const items: Item[] = [];
  for (const { record, item } of rows) {
    records.push(record);
    if (item) items.push(item);
  }
  const number = rows[0]?.number ?? '';
  const place = records[0]?.place ?? { line: 1 };
  const doubtful = shifted.size > 0 ? shifted.get(number) : undefined;
  if (items.length === rows.length && items.length <= LIMITS.items && doubtful === undefined) {
    const order = { purchaseOrderNumber: number, orderState: 'NEW' as const, items };
    return { ordinal, number, place, records, valid: true, order };
  }
  const problems = rows.flatMap((row) => row.problems ?? []);
  if (rows.length > LIMITS.items) problems.push(problemOf('too-many-items', place, '', '', String(rows.length)));
  if (doubtful !== undefined) problems.push(problemOf('row-in-doubt', place, '', '', String(doubtful)));
  const faulty = rows.find((row) => row.problems)?.record.place ?? place;
  return { ordinal, number, place: faulty, records, valid: false, problems };
}
