import type { Mapping } from '../config/config.ts';
import type { CheckedOrder, Order } from '../order/order.ts';
import type { SourceRecord } from '../order/record.ts';
import type { LeftOut, LineOf } from '../parse/format.ts';
import { readRecords } from '../parse/formats.ts';
import type { Inspection, Objects, Reading, TableReading } from '../parse/inspection.ts';
import type { Originals } from '../parse/read-fix-file.ts';
import { checkObjectRow, type ObjectRecord } from './check-object.ts';
import { createRowCheck, type RowRecord } from './check-row.ts';
import { groupRows } from './group-rows.ts';
import { type LateRecords, openLateRecords } from './late-records.ts';
import type { ObjectRules } from './object-fields.ts';
import { createObjectOrders, type ObjectOrders } from './object-orders.ts';

/** `onLeftOut` gets what `skipWhere` leaves out; also rows of orders that have others in the file. */
export type ReadOptions = { signal?: AbortSignal; onLeftOut?: (one: LeftOut) => void };

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
  { signal, onLeftOut }: ReadOptions = {},
): AsyncGenerator<CheckedOrder[]> {
  const { reading, mapping } = inspection;
  const pages = watched(readRecords(path, inspection, signal), onLeftOut);
  using late = openLateRecords();
  if (!('objects' in reading)) return yield* tableOrders(pages, reading, mapping, late);
  const { objects, isGuess } = reading;
  const rules = { mapping, isGuess, isXml: reading.format === 'xml' };
  switch (objects.kind) {
    case 'orders':
      return yield* objectOrders(
        pages,
        createObjectOrders({ ...objects, ...originalsOf(reading) }, late),
        rules,
      );
    case 'rows':
      return yield* rowOrders(pages, { ...objects, ...originalsOf(reading) }, rules, late);
  }
}

/** An order as it would be sent, and the line of its first row. */
export type OrderToSend = Order & { line: number };

/** Those orders of a checked file whose place among all of them `isSent` has. The file is read again, so that none is kept. */
export async function* ordersToSend(
  path: string,
  inspection: Inspection,
  { isSent, signal }: { isSent: readonly boolean[]; signal: AbortSignal },
): AsyncGenerator<OrderToSend> {
  let at = 0;
  for await (const one of readOrders(path, inspection, { signal })) {
    if (isSent[at++] && one.valid) yield { line: one.place.line, ...one.order };
  }
}

/** The first row or object with this number that `skipWhere` or `onlyWhere` leaves out. */
export async function findLeftOut(
  path: string,
  inspection: Inspection,
  number: string,
  signal: AbortSignal,
) {
  const found: LeftOut[] = [];
  const onLeftOut = (one: LeftOut) => void (one.number === number && found.push(one));
  for await (const _ of readOrderPages(path, inspection, { signal, onLeftOut }))
    if (found.length > 0) break;
  return found[0];
}

async function* watched(pages: ReturnType<typeof readRecords>, onLeftOut?: (one: LeftOut) => void) {
  for await (const page of pages) {
    if (onLeftOut !== undefined) for (const one of page.leftOut) onLeftOut(one);
    yield page;
  }
}

type Pages = ReturnType<typeof watched>;
type Guess = { isGuess: boolean };

async function* tableOrders(
  pages: Pages,
  reading: TableReading & Guess,
  mapping: Mapping,
  late: LateRecords,
) {
  const checkRow = createRowCheck({ table: reading, mapping });
  const check = (record: SourceRecord) => checkRow(asRow(record));
  const groups = groupRows({ reading, check, mapping, late });
  for await (const { records } of pages) yield groups.add(records.map(check));
  yield* groups.finish();
}

async function* objectOrders(
  pages: Pages,
  orders: ObjectOrders,
  rules: Omit<ObjectRules, 'lineOf'>,
) {
  for await (const { records, lineOf } of pages)
    yield orders.add(records.map(asObject), { ...rules, lineOf });
  yield* orders.finish();
}

/** Objects without items, each with one item of an order. */
async function* rowOrders(
  pages: Pages,
  reading: Extract<Objects, { kind: 'rows' }> & { originals?: Originals },
  rules: Omit<ObjectRules, 'lineOf'>,
  late: LateRecords,
) {
  let lineOf: LineOf = ({ line }) => line;
  const check = (record: SourceRecord) => checkObjectRow(asObject(record), { ...rules, lineOf });
  const groups = groupRows({ reading, check, mapping: rules.mapping, late });
  for await (const page of pages) {
    lineOf = page.lineOf;
    yield groups.add(page.records.map(check));
  }
  lineOf = ({ line }) => line;
  yield* groups.finish();
}

function originalsOf(reading: Reading): { originals?: Originals } {
  return 'originals' in reading && reading.originals !== undefined
    ? { originals: reading.originals }
    : {};
}

function asRow(record: SourceRecord): RowRecord {
  if (record.kind === 'row') return record;
  throw new TypeError('a table has rows only');
}

function asObject(record: SourceRecord): ObjectRecord {
  if (record.kind === 'object') return record;
  throw new TypeError('a file of objects has objects only');
}
