import type { Mapping } from '../config/config.ts';
import { specificNames } from '../config/mapping-schema.ts';
import { NO_ORDER, placeText } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import { type Item, keptAsRead, type ReadItem } from '../order/order.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Place, Problem, SourceRecord } from '../order/record.ts';
import { plainName, pointerStep, shorten, textFault } from '../order/text.ts';
import {
  type Found,
  find,
  isBlank,
  isObject,
  SHOWN_KEYS,
  shown,
  textOf,
} from '../parse/find-key.ts';
import { type CheckedRow, faultOf, mappingOf } from './check-row.ts';
import {
  isAbsent,
  isRecord,
  listElsewhere,
  listInside,
  listsBeside,
  namesBeside,
} from './keys-beside.ts';
import {
  type ObjectRules,
  ordersHint,
  otherNumber,
  problemAt,
  quantityOf,
  stateIn,
  textIn,
} from './object-fields.ts';
import { doubtProblems, problemOf } from './problem.ts';
import { isOnlyDone } from './said-beside.ts';
import { reportSaid } from './said-in-object.ts';

/**
 * One JSON object, read as one order. `items` is present when nothing is wrong, `articles` and `itemsRead` when something is,
 * `ifWanted` when it is only done already.
 */
export type CheckedObject = {
  number: string;
  items?: Item[];
  ifWanted?: Item[];
  problems: Problem[];
} & Partial<ReturnType<typeof keptAsRead>>;

export type ObjectRecord = Extract<SourceRecord, { kind: 'object' }>;

/** Reads one JSON value as an order; reports everything that is wrong with it. */
export function checkObject(record: ObjectRecord, given: ObjectRules): CheckedObject {
  const rules = { ...given, mapping: mappingOf(given.mapping, record) };
  const { place, value } = record;
  if (!isObject(value))
    return { number: '', problems: [problemOf('not-an-object', place, '', shown(value))] };
  const problems = doubtProblems(record.doubts, place);
  const number = textIn(value, 'purchaseOrderNumber', place, rules, problems);
  stateIn(value, place, rules.mapping, problems);
  reportSaid(value, undefined, place, rules, problems);
  const items = itemsIn(value, place, rules, problems);
  countsIn(value, place, rules, items, problems);
  nestedIn(value, number, place, rules, problems);
  if (problems.length === 0) return { number, items, problems };
  const ifWanted = isOnlyDone(problems, rules.mapping) ? { ifWanted: items } : {};
  return {
    number,
    ...ifWanted,
    ...asRead(value, rules.mapping),
    problems: placed(problems, place, rules),
  };
}

/** The items of an order with problems, as read. */
function asRead(value: object, mapping: Mapping): ReturnType<typeof keptAsRead> {
  const list = find(value, mapping.fields.items).value;
  const items: unknown[] = Array.isArray(list) ? list.slice(0, LIMITS.items) : [];
  return keptAsRead(items.filter(isObject).map((item) => itemAsRead(item, mapping)));
}

function itemAsRead(item: object, { fields, defaults }: Mapping): ReadItem {
  const [articleCode = '', quantity = ''] = (['articleCode', 'quantity'] as const).map((field) => {
    const { value } = find(item, fields[field]);
    return isBlank(value) ? defaults[field] : (textOf(value) ?? sourceOfNumber(value));
  });
  return { articleCode, quantity };
}

/** Finding the line of a value is slow. */
function placed(problems: readonly Problem[], place: Place, { lineOf }: ObjectRules): Problem[] {
  return problems.map((problem) => ({ ...problem, line: lineOf(place, problem.pointer ?? '') }));
}

/** Reads one object without items as one line of an order. */
export function checkObjectRow(record: ObjectRecord, given: ObjectRules): CheckedRow {
  const rules = { ...given, mapping: mappingOf(given.mapping, record) };
  const { place, value } = record;
  if (!isObject(value)) {
    const reason = `${placeText(place)} is not an object`;
    return {
      record,
      number: '',
      problems: [problemOf('not-an-object', place, '', shown(value))],
      loose: { reason, isBoth: true },
    };
  }
  const found = doubtProblems(record.doubts, place);
  const number = textIn(value, 'purchaseOrderNumber', place, rules, found);
  stateIn(value, place, rules.mapping, found);
  nestedIn(value, number, place, rules, found);
  const [item] = itemOf(value, place, rules, found);
  const isTotal = [number, item?.articleCode ?? ''].find(
    (text) => faultOf(text, rules.mapping) === 'total-row',
  );
  if (isTotal !== undefined) found.push(problemOf('total-row', place, '', isTotal));
  if (found.length === 0 && item) return { record, number, item };
  const loose = looseObject(value, number, place, rules);
  return {
    record,
    number,
    ...itemAsRead(value, rules.mapping),
    problems: placed(found, place, rules),
    ...(item && isOnlyDone(found, rules.mapping) && { ifWanted: item }),
    ...(loose && { loose }),
  };
}

/** Why a row may belong to the order above it or below it: no cells are merged in a file of objects. */
function looseObject(
  value: object,
  number: string,
  place: Place,
  { mapping }: ObjectRules,
): CheckedRow['loose'] {
  const fault = textFault(number);
  if (fault === undefined) return undefined;
  const given = find(value, mapping.fields.purchaseOrderNumber).value;
  if (!isBlank(given))
    return { reason: `the order number at ${placeText(place)} cannot be used`, isBoth: true };
  const names = [mapping.fields.articleCode, mapping.fields.quantity];
  const hasItem = names.some((one) => !isBlank(find(value, one).value));
  return hasItem ? { reason: `${placeText(place)} has no order number`, isBoth: true } : undefined;
}

function itemsIn(value: object, place: Place, rules: ObjectRules, problems: Problem[]): Item[] {
  const found = find(value, rules.mapping.fields.items);
  const list = found.value;
  if (found.isAmbiguous) problems.push(problemAt('ambiguous-key', found, place, found.keys));
  else if (isAbsent(found))
    problems.push(
      problemAt(
        'no-items',
        found,
        place,
        '',
        listsBeside(value, found, rules.mapping, { ...place, isXml: rules.isXml }),
      ),
    );
  else if (!Array.isArray(list)) {
    const problem = problemAt('not-a-list', found, place, shown(list), shapeOf(list));
    problems.push({ ...problem, message: `${problem.message}${listInside(found)}` });
  } else if (list.length === 0) problems.push(problemAt('no-items', found, place, '[]'));
  else if (list.length > LIMITS.items)
    problems.push(problemAt('too-many-items', found, place, String(list.length)));
  else
    return list.flatMap((item: unknown, index) =>
      itemOf(item, within(place, found, index), rules, problems),
    );
  return [];
}

const COUNT =
  /^(?:total)?(?:line|order)?(?:items?|lines?|positions?|positionen)count$|^(?:numberof|anzahl)(?:items|lines|positions|positionen)$/;
const counts = new Map<string, boolean>();
const MOST_COUNTS = 1_000;

function isCount(key: string): boolean {
  const known = counts.get(key) ?? COUNT.test(plainName(key).replace(/[-_]/g, ''));
  if (counts.size < MOST_COUNTS && key.length < 100) counts.set(key, known);
  return known;
}

/** Reports a number of items that is neither that of the list nor the sum of its quantities: items may be missing. */
function countsIn(
  value: object,
  place: Place,
  { mapping }: ObjectRules,
  items: Item[],
  problems: Problem[],
): void {
  if (mapping.otherReadings === 'allow' || items.length === 0 || problems.length > 0) return;
  for (const key in value) {
    const text = isCount(key) ? textOf(Reflect.get(value, key)) : undefined;
    if (text === undefined || !/^\d{1,6}$/.test(text)) continue;
    const count = Number(text);
    const sum = items.reduce((total, { quantity }) => total + quantity, 0);
    if (count === items.length || count === sum) continue;
    const found = find(value, mapping.fields.items);
    problems.push(
      problemAt(
        'not-a-list',
        found,
        place,
        String(count),
        `a list of ${items.length} beside ${key} ${count}`,
      ),
    );
  }
}

/** What is in place of a list: `the text "5"`, or `an object with count "3", item (2)`. */
function shapeOf(value: unknown): string {
  if (!isObject(value))
    return typeof value === 'string'
      ? `the text ${JSON.stringify(shorten(value, 60))}`
      : shown(value);
  const keys = Object.entries(value).map(([key, inner]) => {
    if (Array.isArray(inner)) return `${key} (${inner.length})`;
    return isObject(inner) ? key : `${key} ${shown(inner)}`;
  });
  return `an object with ${shorten(keys.slice(0, SHOWN_KEYS).join(', '), 120)}`;
}

function itemOf(item: unknown, place: Place, rules: ObjectRules, problems: Problem[]): Item[] {
  if (!isObject(item)) {
    problems.push(problemOf('not-an-object', place, '', shown(item)));
    return [];
  }
  const articleCode = textIn(item, 'articleCode', place, rules, problems);
  const found = find(item, rules.mapping.fields.quantity);
  reportSaid(item, textOf(found.value) ?? '', place, rules, problems);
  const read = quantityOf(found, rules.mapping);
  if ('value' in read) return [{ articleCode, quantity: read.value }];
  const value = found.isAmbiguous ? found.keys : isAbsent(found) ? '' : shown(found.value);
  const detail =
    read.fault === 'missing' ? namesBeside(item, found, 'quantity', rules.mapping) : value;
  problems.push(problemAt(read.fault, found, place, value, detail));
  return [];
}

/** Reports orders and items in places that no field leads to, and items that name another order. */
function nestedIn(
  value: object,
  number: string,
  place: Place,
  rules: ObjectRules,
  problems: Problem[],
): void {
  const { fields } = rules.mapping;
  const list = find(value, fields.items);
  const from = place.pointer ?? '';
  const own = [list, ...TEXT_FIELDS.map((field) => find(value, fields[field]))].map(
    ({ pointer }) => from + pointer,
  );
  let hint: string | undefined;
  const around = { number, hint: () => (hint ??= ordersHint(list, number, place, rules)) };
  // One message is enough where the list only has another name.
  const elsewhere = listElsewhere(value, list, rules.mapping)?.pointer;
  lookInto(value, from, (inner, pointer) => {
    if (elsewhere !== undefined && `${pointer}/`.startsWith(`${from}${elsewhere}/`)) return false;
    if (own.some((one) => one.startsWith(`${pointer}/`))) return true;
    if (pointer === `${from}${list.pointer}`) return false;
    const isItem = pointer.startsWith(`${from}${list.pointer}/`) && Array.isArray(list.value);
    const depth = pointer.slice(from.length + list.pointer.length).split('/').length - 1;
    if (isItem && depth === 1) ownOrder(inner, pointer, around, place, rules, problems);
    else if (isRecord(inner, rules.mapping)) {
      problems.push(problemOf('nested', { ...place, pointer }, '', '', pointer));
      return false;
    }
    return true;
  });
}

const TEXT_FIELDS = ['purchaseOrderNumber', 'articleCode', 'quantity'] as const;
/** An item with an own order number or state. */
function ownOrder(
  item: object,
  pointer: string,
  { number, hint }: { number: string; hint: () => string },
  place: Place,
  { mapping }: ObjectRules,
  problems: Problem[],
): void {
  const at = { ...place, pointer };
  const other = otherNumber(item, mapping);
  if (other && other.text !== number) {
    const problem = problemAt('other-order', other.found, at, other.text);
    problems.push({
      ...problem,
      message: `${problem.message}${hint()}${other.isRead ? '' : NO_ORDER}`,
    });
  }
  stateIn(item, at, mapping, problems, specificNames(mapping.fields.orderState));
}

/** Calls `look` for each inner object, and for those within it unless that returns false; not beyond any likely depth. */
function lookInto(
  value: unknown,
  pointer: string,
  look: (inner: object, pointer: string) => boolean,
  depth = 0,
): void {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value) || depth > 100) return;
  for (const key in value) {
    const inner: unknown = Reflect.get(value, key);
    if (typeof inner !== 'object' || inner === null) continue;
    const at = `${pointer}${pointerStep(key)}`;
    if (!isObject(inner) || look(inner, at)) lookInto(inner, at, look, depth + 1);
  }
}

function within({ line, pointer = '' }: Place, list: Found, index: number): Place {
  return { line, pointer: `${pointer}${list.pointer}/${index}` };
}
