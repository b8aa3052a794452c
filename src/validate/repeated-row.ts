import type { Mapping } from '../config/config.ts';
import { placeText } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import type { Item } from '../order/order.ts';
import { readQuantity, sourceOfNumber } from '../order/quantity.ts';
import type { Place, SourceRecord } from '../order/record.ts';
import { plainName, trimBlanks } from '../order/text.ts';
import type { Columns } from '../parse/columns.ts';
import { isBlank, isObject } from '../parse/find-key.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';
import type { CheckedRow } from './check-row.ts';

/** Rows that are equal have equal articles, which are quicker to compare. */
export function hasOneArticleTwice(items: readonly Item[]): boolean {
  if (items.length < 2 || items.length > LIMITS.items) return false;
  if (items.length === 2) return items[0]?.articleCode === items[1]?.articleCode;
  return new Set(items.map(({ articleCode }) => articleCode)).size < items.length;
}

/** A row that repeats an earlier one of its order; `how` names both and what is equal. */
export type RepeatedRow = { place: Place; how: string };

/**
 * A row that is equal to an earlier one of the order in what is sent and in every other value; also one that differs in
 * nothing but the quantity, where it may replace the other: both have one position, their revisions differ, or other
 * rows are between them, also where a fix file brings them together. `columns`: of a table.
 */
export function repeatedRow(
  rows: readonly CheckedRow[],
  mapping: Mapping,
  { columns, originals }: { columns?: Columns | undefined; originals?: Originals | undefined },
): RepeatedRow | undefined {
  const known = new Map<string, Place>();
  const corrections = columns && watchCorrections(columns, originals);
  for (const [index, { record, item, problems }] of rows.entries()) {
    const { place } = record;
    const value = record.kind === 'row' ? record.cells : record.value;
    const text = JSON.stringify(comparable(value, item?.quantity, mapping));
    const first = known.get(text);
    // What is wrong is corrected first: equal rows are found then, too.
    if (first !== undefined && problems === undefined)
      return { place, how: `${placeText(place)} is equal to ${placeText(first)} in every value` };
    known.set(text, place);
    const corrected = record.kind === 'row' ? corrections?.(record, index) : undefined;
    if (corrected !== undefined)
      return {
        place,
        how: `${placeText(place)} is equal to ${placeText(corrected)} in every value but the quantity`,
      };
  }
  return undefined;
}

const POSITION =
  /^(?:item|line|order)?(?:pos|position|line|posten|zeile)(?:no|nr|number|nummer)?$|^(?:line|item)(?:no|nr|number)$/;
const REVISION = /^(?:rev|revision|version|fassung)$/;

/** Finds rows that may correct an earlier one of the order, and returns its place unless a person confirmed both. */
function watchCorrections({ header, at }: Columns, originals: Originals | undefined) {
  const names = header.map((name) => plainName(name).replace(/[-_.]/g, ''));
  const hasPosition = names.some((name) => POSITION.test(name));
  const compared = names.flatMap((name, column) =>
    column === at.quantity || REVISION.test(name) ? [] : [column],
  );
  const hasRevision = compared.length < header.length - 1;
  const known = new Map<string, { record: SourceRecord; before: RowsBefore }>();

  return (record: SourceRecord & { kind: 'row' }, index: number): Place | undefined => {
    const text = JSON.stringify(compared.map((column) => trimBlanks(record.cells[column] ?? '')));
    const other = known.get(text);
    const before = rowsBefore(record, index, originals);
    known.set(text, { record, before });
    if (other === undefined || (record.isConfirmed && other.record.isConfirmed)) return undefined;
    // A row that a person added was in no file before.
    const where = before.were === undefined || other.before.were === undefined ? 'are' : 'were';
    const isApart = before[where] !== other.before[where];
    return hasPosition || hasRevision || isApart || before.isHeld ? other.record.place : undefined;
  };
}

/** How many rows before a row `are` not of its order, and how many `were` not in the file that a fix file corrects. */
type RowsBefore = { are: number; were?: number; isHeld: boolean };

/** A fix file has the rows of an order together. */
function rowsBefore(
  record: SourceRecord,
  index: number,
  originals: Originals | undefined,
): RowsBefore {
  const from = originals && !isOfOtherBatch(record, originals) ? placeNamedBy(record) : undefined;
  const own = from === undefined ? undefined : originals?.orders.get(from);
  const line = Number(/^line (\d+)$/.exec(from ?? '')?.[1]);
  const are = record.place.line - index;
  if (from === undefined || own === undefined || Number.isNaN(line)) return { are, isHeld: false };
  return { are, were: line - own.indexOf(from), isHeld: originals?.repeated.has(from) === true };
}

/**
 * A value without the differences that are not sent: spaces around a text, the form of the quantity, the place of a
 * key.
 */
function comparable(value: unknown, quantity: number | undefined, mapping: Mapping): unknown {
  if (Array.isArray(value)) return value.map((one) => comparable(one, quantity, mapping));
  if (isObject(value)) {
    const filled = Object.entries(value).filter(([, one]) => !isBlank(one));
    const alike = filled.map(([key, one]) => [key, comparable(one, quantity, mapping)] as const);
    return alike.toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
  const text = typeof value === 'string' ? trimBlanks(value) : (sourceOfNumber(value) ?? value);
  if (quantity === undefined || typeof text !== 'string') return text;
  const decimal = typeof value === 'string' ? mapping.decimal : '.';
  const read = readQuantity(text, decimal, mapping.quantity === 'integer');
  return 'value' in read && read.value === quantity ? String(quantity) : text;
}

/** A row of a fix file that names the same row as an earlier one of the order, or another batch: two copies were joined. */
export function correctedTwice(
  records: readonly SourceRecord[],
): { place: Place; first: Place } | undefined {
  if (!records.some(({ fixTarget, line }) => fixTarget !== undefined || line !== undefined))
    return undefined;
  const known = new Map<string, Place>();
  let named: { batch: string; place: Place } | undefined;
  for (const { kind, place, line, fixTarget, isAdded } of records) {
    // A row of an earlier batch that a person added, because it was left out of this one.
    if (isAdded && named !== undefined && named.batch !== fixTarget?.batch) continue;
    if (fixTarget !== undefined && named !== undefined && named.batch !== fixTarget.batch)
      return { place, first: named.place };
    if (fixTarget !== undefined) named ??= { batch: fixTarget.batch, place };
    const from = placeNamedBy({
      kind,
      ...(fixTarget && { fixTarget }),
      ...(line !== undefined && { line }),
    });
    if (from === undefined) continue;
    const first = known.get(from);
    if (first !== undefined) return { place, first };
    known.set(from, place);
  }
  return undefined;
}
