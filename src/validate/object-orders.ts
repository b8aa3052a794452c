import { isDeepStrictEqual } from 'node:util';
import { PoSyncError } from '../core/errors.ts';
import { digestOf, fingerprintOf } from '../order/digest.ts';
import { errorColumnOf, fixNote, readFixNote } from '../order/fixing.ts';
import { type CheckedOrder, createPager, type Item, keptAsRead } from '../order/order.ts';
import { parseExactly } from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';
import type { Objects } from '../parse/inspection.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';
import { type CheckedObject, checkObject, type ObjectRecord } from './check-object.ts';
import type { LateRecords, OrderedRecord } from './late-records.ts';
import type { ObjectRules } from './object-fields.ts';
import { problemOf } from './problem.ts';

/** Makes an order of each JSON object, in the file's order; objects that share a number come at the end. */
export type ObjectOrders = {
  add(records: readonly ObjectRecord[], rules: ObjectRules): CheckedOrder[];
  /** The rest, after the last object. */
  finish(): Generator<CheckedOrder[]>;
};

/** Orders returned at once at the end. */
const PAGE = 500;

type Known = Pick<Extract<Objects, { kind: 'orders' }>, 'repeated' | 'shifted'> & {
  originals?: Originals | undefined;
};

/** Objects with one number and different content are all held: nothing says which of them is right. */
export function createObjectOrders(
  { repeated, shifted, originals }: Known,
  late: LateRecords,
): ObjectOrders {
  let ordinal = 0;
  return {
    add(records, rules) {
      return records.flatMap((record) => {
        const checked = withDoubt(checkObject(record, rules), record, { shifted, originals });
        if (checked.number === '' || !repeated.has(checked.number))
          return [orderOf(record, checked, ordinal++)];
        const { number } = checked;
        const place = shownPlace(record.place);
        late.add({
          number,
          content: contentOf(record, checked),
          place,
          text: toText(record, checked),
        });
        return [];
      });
    },
    *finish() {
      const pager = createPager(PAGE);
      for (const one of late.ordered()) yield* pager.add(lateOrder(one, ordinal++));
      yield pager.rest();
    },
  };
}

/** The number may have been typed differently for another part of the order. */
function withDoubt(
  checked: CheckedObject,
  record: ObjectRecord,
  { shifted, originals }: Omit<Known, 'repeated'>,
): CheckedObject {
  const doubt = shifted.get(checked.number) ?? unansweredTwin(record, originals);
  if (doubt === undefined || record.isConfirmed) return checked;
  return withProblem(checked, problemOf('row-in-doubt', record.place, '', '', doubt));
}

/** A doubt about an order that is one object, where nothing in it was changed. */
function unansweredTwin(
  record: ObjectRecord,
  originals: Originals | undefined,
): string | undefined {
  if (originals === undefined || isOfOtherBatch(record, originals)) return undefined;
  const place = placeNamedBy(record) ?? '';
  const lack = originals.incomplete.get(place)?.find(({ kind }) => kind === 'in-doubt');
  const [now, was] = [record, originals.records.get(place)].map((one) =>
    one?.kind === 'object' ? ownOf(one.value) : one,
  );
  return isDeepStrictEqual(now, was) ? lack?.what : undefined;
}

/** An object without the keys that a fix file adds. */
function ownOf(value: unknown): [string, unknown][] {
  return Object.entries(value ?? {}).filter(([key]) => errorColumnOf(key) === undefined);
}

function withProblem(checked: CheckedObject, problem: Problem): CheckedObject {
  const { items = [], ifWanted: _, problems, ...rest } = checked;
  const read = items.map(({ articleCode, quantity }) => ({
    articleCode,
    quantity: String(quantity),
  }));
  return { ...keptAsRead(read), ...rest, problems: [...problems, problem] };
}

function orderOf(record: ObjectRecord, checked: CheckedObject, ordinal: number): CheckedOrder {
  const { number, items, ifWanted, articles = [], itemsRead, problems } = checked;
  const common = { ordinal, number, place: record.place, records: [record] };
  const orderWith = (all: Item[]) => ({
    purchaseOrderNumber: number,
    orderState: PURCHASE_ORDER.state,
    items: all,
  });
  if (items !== undefined) return { ...common, valid: true, order: orderWith(items) };
  const read = {
    articles,
    ...(itemsRead && { itemsRead }),
    ...(ifWanted && { ifWanted: orderWith(ifWanted) }),
  };
  return { ...common, valid: false, problems, ...read };
}

function lateOrder({ text, others }: OrderedRecord, ordinal: number): CheckedOrder {
  const { record, checked } = fromText(text);
  if (others === undefined) return orderOf(record, checked, ordinal);
  const places = `first: ${others.first}, last: ${others.last}`;
  const problem = problemOf('repeated-number', record.place, '', checked.number, places);
  return orderOf(record, withProblem(checked, problem), ordinal);
}

/** `line 1, /orders/7`: a file on a single line has no other places than pointers. */
function shownPlace({ line, pointer = '' }: Place): string {
  return pointer === '' ? `line ${line}` : `line ${line}, ${pointer}`;
}

function contentOf(record: ObjectRecord, { items }: CheckedObject): string {
  return items === undefined ? fingerprintOf([record]) : digestOf({ items });
}

type Kept = CheckedObject & { place: Place; note: string; value: unknown };

function toText({ place, value, fixTarget }: ObjectRecord, checked: CheckedObject): string {
  const kept: Kept = {
    place,
    note: fixTarget === undefined ? '' : fixNote(fixTarget),
    ...checked,
    value,
  };
  return JSON.stringify(kept);
}

/** Numbers of the value keep their source text; those of the other parts are plain. */
function fromText(text: string): { record: ObjectRecord; checked: CheckedObject } {
  const plain = JSON.parse(text) as Kept;
  const { value } = parseExactly(text) as Kept;
  if (typeof plain.number !== 'string')
    throw new PoSyncError('late-rows-damaged', 'Objects that were stored on disk are damaged.', {
      remedy: 'Check the disk of the temporary folder (TMPDIR).',
    });
  const { place, note, value: _, ...checked } = plain;
  const fixTarget = readFixNote(note);
  const record: ObjectRecord = { kind: 'object', place, value, ...(fixTarget && { fixTarget }) };
  return { record, checked };
}
