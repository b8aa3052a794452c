import type { Mapping } from '../config/config.ts';
import { WERE_RESTORED } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import type { SourceRecord } from '../order/record.ts';
import type { Columns } from './columns.ts';
import { watchRepeats } from './csv/number-filter.ts';
import { createRuns } from './csv/number-runs.ts';
import { watchShifted, watchTwins } from './csv/shifted-numbers.ts';
import { find, isBlank, isObject, textOf } from './find-key.ts';
import { compareObject, objectFacts } from './fix-objects.ts';
import { type LeftOut, type RecordPage, watchUnusedKeys } from './format.ts';
import type { Objects } from './inspection.ts';
import {
  isOfOtherBatch,
  leftOut,
  missingIn,
  type Originals,
  refuseLostNotes,
} from './read-fix-file.ts';
import { type Because, watchSkippedObjects } from './skip-where.ts';
import { tooManyRecords, unreadable } from './unreadable.ts';

/** One object of a JSON or XML file, with its place; `bytes` is its length in the file. */
export type ObjectRecord = {
  line: number;
  pointer: string;
  value: unknown;
  bytes: number;
  /** The line on which a value within the object begins, by its pointer in the file. */
  lineOf(pointer: string): number;
};

/** Objects as they are meant; call for each object once, in the order of the file. */
type OwnObjects = {
  /** Undefined for one that `skipWhere` leaves out. */
  recordOf(object: ObjectRecord): ObjectOrRow | undefined;
  because(): Because;
  hasErrorKeys(): boolean;
  /** What was restored or left out. */
  warnings(): string[];
};

type ObjectOrRow = Extract<SourceRecord, { kind: 'object' }>;
type Fields = Record<string, unknown>;

const ERROR_KEY = '_error_';

/**
 * Removes the keys that a fix file adds; with `fillDown`, a row gets the number above it, but not across a record
 * without any field.
 */
function createOwnObjects(mapping: Mapping, originals: Originals | undefined): OwnObjects {
  let hasErrorKeys = false;
  let restored = 0;
  const lost = new Map<string, string>();
  let above: string | undefined;
  const skipped = watchSkippedObjects(mapping);

  function fill(value: Fields): void {
    const found = find(value, mapping.fields.purchaseOrderNumber);
    const isEmpty = isBlank(found.value);
    if (!isEmpty) above = textOf(found.value);
    else if (!isRow(value, mapping)) above = undefined;
    else if (above !== undefined) value[found.name] = above;
  }

  return {
    recordOf(at) {
      const { line, pointer, value } = at;
      const place = { line, pointer };
      const isSkipped = skipped.skips(value);
      // A row below must not get the number of the row above a skipped one.
      if (isSkipped || !isObject(value)) above = undefined;
      if (isSkipped) return undefined;
      if (!isObject(value)) return { kind: 'object', place, value };
      const errorKeys = takeErrorKeys(value);
      if (mapping.fillDown) fill(value);
      if (errorKeys === undefined) return { kind: 'object', place, value };
      hasErrorKeys = true;
      const facts = objectFacts(errorKeys);
      const isWrapped = '_error_value' in errorKeys && Object.keys(value).length === 0;
      if (isWrapped) return { kind: 'object', place, value: errorKeys['_error_value'], ...facts };
      const { doubts, ...compared } = compareObject(
        value,
        { ...facts, at },
        errorKeys,
        originals,
        mapping,
      );
      restored += compared.restored;
      for (const [key, text] of compared.lost) if (!lost.has(key)) lost.set(key, text);
      return { kind: 'object', place, value, ...facts, ...(doubts.length > 0 && { doubts }) };
    },
    because: skipped.because,
    hasErrorKeys: () => hasErrorKeys,
    warnings() {
      const changed =
        restored === 0 ? [] : [`A program changed ${restored} values, ${WERE_RESTORED}.`];
      return [...changed, ...missingIn('keys', [...lost.values()]), ...skipped.warnings()];
    },
  };
}

function takeErrorKeys(value: Fields): Fields | undefined {
  const keys = Object.keys(value).filter((key) => key.startsWith(ERROR_KEY));
  const taken = Object.fromEntries(keys.map((key) => [key, value[key]]));
  for (const key of keys) delete value[key];
  return keys.length === 0 ? undefined : taken;
}

/** Makes records of the objects of one list, in their order. */
export function createObjectPages(
  mapping: Mapping,
  originals?: Originals,
): (found: readonly ObjectRecord[]) => RecordPage {
  const own = createOwnObjects(mapping, originals);
  const leftOut: LeftOut[] = [];
  const keep = ({ line, value }: ObjectRecord): [] => {
    const number = isObject(value)
      ? textOf(find(value, mapping.fields.purchaseOrderNumber).value)
      : undefined;
    leftOut.push({ number: number ?? '', line, ...own.because() });
    return [];
  };
  return (found) => ({
    records: found.flatMap((object) => own.recordOf(object) ?? keep(object)),
    leftOut: leftOut.splice(0),
    lineOf: ({ line, pointer: at }, pointer) =>
      found.find((object) => object.line === line && object.pointer === at)?.lineOf(pointer) ??
      line,
  });
}

/** The first pass over the objects of one list. */
export type ObjectWatch = {
  records: number;
  /** Also those that `skipWhere` leaves out. */
  seen: number;
  /** Orders that they form; undefined when they are too many to count. */
  orders(): number | undefined;
  /** Some object has the order number. */
  hasNumbers: boolean;
  /** Of the first and the last object. */
  ends: { first?: string; last: string };
  unused: ReturnType<typeof watchUnusedKeys>;
  look(object: ObjectRecord): void;
  /** PoSyncError `unreadable-json-shape` for orders with items between rows. */
  objects(): Objects;
  isFixFile(): boolean;
  warnings(): string[];
};

/** Bytes of the shortest likely object. */
const LEAST_OBJECT = 60;
/** Values of a row that are compared with other rows. */
const WIDTH = 16;
const HEADER = Array.from({ length: WIDTH }, (_, index) => String(index));
const COLUMNS: Columns = {
  header: HEADER,
  names: HEADER,
  at: { purchaseOrderNumber: 0, orderState: 1, articleCode: 2, quantity: 3 },
  errorColumns: [],
};

/** Watches the objects of one list in a file of `bytes` bytes: their numbers, and whether they are orders or rows. */
export function watchObjects(bytes: number, mapping: Mapping, originals?: Originals): ObjectWatch {
  const own = createOwnObjects(mapping, originals);
  const repeats = watchRepeats(Math.min(LIMITS.records, bytes / LEAST_OBJECT));
  const rows = watchRows(bytes, mapping);
  const [named, twins, numbered] = [
    new Map<string, string>(),
    new Map<string, string>(),
    new Set<string>(),
  ];
  const numbers = watchTwins(
    (text, reason) => text !== '' && !twins.has(text) && twins.set(text, reason),
  );
  const first: { order?: ObjectRecord; row?: ObjectRecord } = {};
  const ends: ObjectWatch['ends'] = { last: '' };
  const none = { records: 0, seen: 0, hasNumbers: false, unused: watchUnusedKeys(mapping) };
  const watch: ObjectWatch = {
    ...none,
    ends,
    look,
    objects,
    orders,
    isFixFile: own.hasErrorKeys,
    warnings,
  };

  function look(object: ObjectRecord): void {
    watch.seen += 1;
    if (watch.seen > LIMITS.records) throw tooManyRecords();
    const record = own.recordOf(object);
    if (record === undefined) return;
    watch.records += 1;
    const { value, ...facts } = record;
    const place = isOfOtherBatch(facts, originals) ? undefined : facts.fixTarget?.place;
    if (place !== undefined) named.set(place, object.pointer || `line ${object.line}`);
    // What is no object ends the run of rows above it.
    if (!isObject(value)) {
      rows.look({}, '', object);
      return;
    }
    watch.unused.look(value);
    const found = find(value, mapping.fields.purchaseOrderNumber);
    const number = textOf(found.value) ?? '';
    if (place !== undefined && number.trim() !== '') numbered.add(place);
    if (found.value !== undefined) watch.hasNumbers = true;
    ends.first ??= number;
    ends.last = number;
    const kind = kindOf(value, mapping);
    if (kind !== undefined) first[kind] ??= object;
    if (kind !== 'order') rows.look(value, number, object);
    if (kind !== 'row') repeats.look(number);
    if (mapping.otherReadings === 'hold') numbers.look(number, object.line);
  }

  function warnings(): string[] {
    return [
      ...own.warnings(),
      ...(own.hasErrorKeys() ? leftOut(originals, named) : rows.warnings()),
    ];
  }

  function orders(): number | undefined {
    return first.row === undefined ? watch.records : rows.orders();
  }

  function objects(): Objects {
    const { order, row } = first;
    if (!own.hasErrorKeys()) refuseLostNotes(originals);
    // People correct such numbers in a fix file, or confirm them.
    const doubted = own.hasErrorKeys() ? new Map<string, string>() : twins;
    if (row === undefined) return { kind: 'orders', repeated: repeats.found(), shifted: doubted };
    if (order !== undefined) throw mixed(order, row);
    const { apart, shifted } = rows.found();
    return { kind: 'rows', apart, shifted: new Map([...doubted, ...shifted]), named, numbered };
  }

  return watch;
}

/** An order has items; a row has an article or a quantity instead. */
function kindOf(value: object, mapping: Mapping): 'order' | 'row' | undefined {
  if (!isBlank(find(value, mapping.fields.items).value)) return 'order';
  return isRow(value, mapping) ? 'row' : undefined;
}

/** Whether an object without items has an article or a quantity. */
function isRow(value: object, { fields }: Mapping): boolean {
  return (
    !isBlank(find(value, fields.articleCode).value) || !isBlank(find(value, fields.quantity).value)
  );
}

function mixed(order: ObjectRecord, row: ObjectRecord) {
  const [first, second] = [order, row].map(
    ({ line, pointer }) => `line ${line} (${pointer || '/'})`,
  );
  const message = `The order on ${first} has a list of items, but the object on ${second} has its item among its own keys.`;
  const remedy =
    'Use orders with items, or one object for each item, not both. Check the names in the mapping.';
  return unreadable('json-shape', message, { line: row.line, pointer: row.pointer }, remedy);
}

/** Compares rows as those of a table with the four fields and some of their other values. */
function watchRows(bytes: number, mapping: Mapping) {
  const { fields } = mapping;
  const runs = createRuns(COLUMNS, bytes / LEAST_OBJECT);
  const shifted = watchShifted(COLUMNS, false);
  return {
    look(value: Fields, number: string, { line, bytes: length }: ObjectRecord): void {
      const text = (names: readonly string[]) => textOf(find(value, names).value) ?? '';
      const known = [
        number,
        text(fields.orderState),
        text(fields.articleCode),
        text(fields.quantity),
      ];
      const others = Object.values(value).map((one) => textOf(one) ?? '');
      const all = [
        ...known,
        ...others.filter((one) => !known.includes(one)),
        ...HEADER.map(() => ''),
      ];
      const cells = all.slice(0, WIDTH);
      const row = { line, cells, bytes: length, isOneLine: true, isAfterGap: false };
      runs.add(cells, row);
      shifted.look(cells, row);
    },
    found: () => ({ apart: runs.apart(), shifted: shifted.numbers }),
    orders: runs.orders,
    warnings: runs.warnings,
  };
}
