import { endOf } from '../order/closing-text.ts';
import type { Change, DeadLetter } from '../order/dead-letter.ts';
import { errorColumnOf, isOrdered, placeText } from '../order/fixing.ts';
import type { CheckedOrder } from '../order/order.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { SourceRecord } from '../order/record.ts';
import { pointerStep, shorten } from '../order/text.ts';
import type { Inspection } from '../parse/inspection.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';
import { type CorrectedOrder, MOST_CHANGES } from './corrected-places.ts';

/** Characters of a value. */
const LONGEST = 200;

type Fields = readonly (readonly [field: string, text: string])[];

/** Compares an order of a fix file with the rows that it corrects; undefined for any other order. */
export function correctionOf(
  order: CheckedOrder,
  { reading, shape }: Inspection,
): CorrectedOrder | undefined {
  const originals = 'originals' in reading ? reading.originals : undefined;
  if (originals === undefined) return undefined;
  const placeOf = (record: SourceRecord) =>
    isOfOtherBatch(record, originals) ? undefined : placeNamedBy(record);
  const brought = order.records.filter((record) => placeOf(record) !== undefined);
  const named = brought.flatMap((record) => placeOf(record) ?? []);
  if (named.length === 0) return undefined;
  const at = 'columns' in reading ? reading.columns.at : undefined;
  const names = (field: Sent) => shape.header?.[at?.[field] ?? -1] || field;
  const changes: Change[] = [];
  for (const record of order.records) {
    const place = placeOf(record);
    // What was added for a row of another order, or of none, shows as added.
    const isOther = record.isAdded && originals.formers.get(place ?? '')?.number !== order.number;
    const before = place === undefined || isOther ? undefined : originals.records.get(place);
    const isAdded =
      isOther || (place === undefined && (record.fixTarget === undefined || record.isAdded));
    // Without its original, nobody knows what was changed.
    if (before === undefined && !isAdded) continue;
    const now = fieldsOf(record, at, names);
    const was = before === undefined ? [] : fieldsOf(before, originals.at, names);
    changes.push(...changesBetween(isOther ? '' : (place ?? ''), was, now));
  }
  changes.push(...removedFrom(originals, named));
  const was = originals.formers.get(named[0] ?? '')?.number;
  return {
    batch: originals.batch,
    places: named,
    at: brought.map(({ place }) => placeText(place)),
    number: order.number,
    ...(was === undefined || was === order.number ? {} : { was }),
    changes: changes.slice(0, MOST_CHANGES),
  };
}

type Sent = (typeof SENT)[number];
const SENT = ['purchaseOrderNumber', 'orderState', 'articleCode', 'quantity'] as const;

/** The values of a row that are sent, or all values of an object. */
function fieldsOf(
  record: SourceRecord,
  at: Originals['at'],
  nameOf: (field: Sent) => string,
): Fields {
  if (record.kind === 'object') return [...valuesIn(record.value, '', 0)];
  return SENT.flatMap((field) => {
    const column = at?.[field];
    return column === undefined ? [] : [[nameOf(field), record.cells[column] ?? ''] as const];
  });
}

function* valuesIn(
  value: unknown,
  pointer: string,
  depth: number,
): Generator<readonly [string, string]> {
  if (typeof value !== 'object' || value === null || sourceOfNumber(value) !== undefined) {
    yield [pointer.slice(1), textOf(value)];
  } else if (depth < 8) {
    for (const [key, inner] of Object.entries(value)) {
      if (depth > 0 || errorColumnOf(key) === undefined)
        yield* valuesIn(inner, pointer + pointerStep(key), depth + 1);
    }
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return sourceOfNumber(value) ?? (typeof value === 'boolean' ? String(value) : '');
}

function changesBetween(place: string, was: Fields, now: Fields): Change[] {
  const [before, after] = [new Map(was), new Map(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const [from, to] = [before.get(field) ?? '', after.get(field) ?? ''];
    return from === to
      ? []
      : [{ place, field, from: shorten(from, LONGEST), to: shorten(to, LONGEST) }];
  });
}

/** The rows of the order that did not come back with it. */
function removedFrom({ orders, records, at }: Originals, named: readonly string[]): Change[] {
  const all = new Set(named.flatMap((place) => orders.get(place) ?? []));
  return [...all].flatMap((place) => {
    const record = named.includes(place) ? undefined : records.get(place);
    const fields = record === undefined ? [] : fieldsOf(record, at, String);
    const from = fields.map(([, text]) => text).filter((text) => text !== '');
    return from.length === 0
      ? []
      : [{ place, field: '', from: shorten(from.join(', '), LONGEST), to: '' }];
  });
}

/**
 * Orders that were accepted after they needed a person, their numbers, and those that rows without one got; others that were
 * ordered before, that another file sent since (`elsewhere`), or that were discarded. `own`: the batch of the report.
 */
export type Later = ReturnType<typeof noneLater>;

export function noneLater(own = '') {
  const [of, rows, files] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  return {
    own,
    orders: 0,
    of,
    rows,
    elsewhere: 0,
    discarded: 0,
    before: { same: 0, other: 0, files },
  };
}

/** Numbers kept of each kind. */
const MOST_LATER = 100_000;

/** Counts a dead letter whose order was accepted since, or was ordered before. Another file may send the same number. */
export function addLater(later: Later, letter: DeadLetter, isRow: boolean): void {
  const { closed } = letter;
  const { batch, changes, end, waitsIn, before, number } = closed ?? {};
  const last = closed && endOf(closed)?.by;
  const cameBack = waitsIn === undefined ? end : before;
  const isOwn = isRow || batch === later.own || changes !== undefined || cameBack !== undefined;
  if (last !== 'accepted' || !isOwn) {
    if (!isRow && isOrdered(letter)) later.before.other += 1;
    else if (last === 'accepted') later.elsewhere += 1;
    else if (last === 'discarded' && !isRow) later.discarded += 1;
    return;
  }
  later.orders += Number(!isRow);
  const kept = isRow ? later.rows : later.of;
  if (kept.size < MOST_LATER) kept.add(number || letter.purchaseOrderNumber);
}
