import type { Mapping } from '../config/config.ts';
import { specificNames } from '../config/mapping-schema.ts';
import {
  type QuantityText,
  readJsonQuantity,
  readQuantity,
  sourceOfNumber,
} from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';
import { plainName, trimBlanks } from '../order/text.ts';
import { isUncertain, readingsOf } from '../parse/code-pages.ts';
import { type Found, find, isObject, shown, textOf } from '../parse/find-key.ts';
import type { LineOf } from '../parse/format.ts';
import { recordsHint } from '../parse/inspection.ts';
import { likelyQuantityOf, textOrReadingFault } from './check-row.ts';
import { isAbsent, namesBeside, ownNumberIn } from './keys-beside.ts';
import { type Fault, problemOf } from './problem.ts';

/** What objects are checked against. `isGuess`: the encoding of the file is only a guess. `isXml`: they are elements. */
export type ObjectRules = {
  mapping: Mapping;
  isGuess: boolean;
  isXml: boolean;
  lineOf: LineOf;
};

type TextField = 'purchaseOrderNumber' | 'articleCode';

/** The text of a field, "" when it has none. Whole numbers count as their digits, if those are exact. */
export function textIn(
  value: object,
  field: TextField,
  place: Place,
  rules: ObjectRules,
  problems: Problem[],
): string {
  const { mapping, isGuess } = rules;
  const found = find(value, mapping.fields[field]);
  const preset = field === 'articleCode' ? mapping.defaults.articleCode : undefined;
  const text = isAbsent(found) ? preset : textOf(found.value);
  const none = isAbsent(found) ? 'missing' : 'not-text';
  const fault = found.isAmbiguous
    ? 'ambiguous-key'
    : text === undefined
      ? none
      : textOrReadingFault(text, mapping);
  if (fault === 'missing')
    problems.push(
      problemAt(fault, found, place, shown(found.value), namesBeside(value, found, field, mapping)),
    );
  else if (fault)
    problems.push(
      problemAt(fault, found, place, found.isAmbiguous ? found.keys : (text ?? shown(found.value))),
    );
  if (isGuess && typeof found.value === 'string' && isUncertain(found.value))
    problems.push(
      problemAt(
        'encoding-unsure',
        found,
        place,
        found.value,
        readingsOf(found.value, mapping.encoding),
      ),
    );
  return text ?? '';
}

export function quantityOf(found: Found, mapping: Mapping): QuantityText | { fault: Fault } {
  const read = readFound(found, mapping);
  return 'value' in read ? likelyQuantityOf(read, mapping) : read;
}

function readFound(found: Found, mapping: Mapping): QuantityText | { fault: Fault } {
  const isWhole = mapping.quantity === 'integer';
  if (found.isAmbiguous) return { fault: 'ambiguous-key' };
  if (isAbsent(found))
    return readQuantity(mapping.defaults.quantity ?? '', mapping.decimal, isWhole);
  if (typeof found.value === 'string')
    return readQuantity(trimBlanks(found.value), mapping.decimal, isWhole);
  const source = sourceOfNumber(found.value);
  return source === undefined ? { fault: 'not-a-number' } : readJsonQuantity(source, isWhole);
}

export function problemAt(
  fault: Fault,
  found: Found,
  place: Place,
  value: string,
  detail = value,
): Problem {
  return problemOf(
    fault,
    { ...place, pointer: `${place.pointer ?? ''}${found.pointer}` },
    found.name,
    value,
    detail,
  );
}

/** Reports a state in which no order can be created. */
export function stateIn(
  value: object,
  place: Place,
  mapping: Mapping,
  problems: Problem[],
  names: readonly string[] = mapping.fields.orderState,
): void {
  const found = find(value, names);
  const preset = mapping.defaults.orderState ?? PURCHASE_ORDER.state;
  const state = isAbsent(found) ? preset : textOf(found.value);
  if (found.isAmbiguous) problems.push(problemAt('ambiguous-key', found, place, found.keys));
  else if (state !== preset)
    problems.push(problemAt('wrong-state', found, place, state ?? shown(found.value)));
}

/** Items that all have another order number than the order are orders: merged into one, they would be ordered under a wrong number. */
export function ordersHint(
  list: Found,
  number: string,
  place: Place,
  { mapping, isXml }: ObjectRules,
): string {
  const items: unknown[] = Array.isArray(list.value) ? list.value : [];
  const isOrder = (item: unknown) =>
    isObject(item) && ![undefined, number].includes(otherNumber(item, mapping)?.text);
  // The name of the elements in an XML list is not known here.
  if (isXml || !items.every(isOrder)) return '';
  return recordsHint(list.name.split('.'), { ...place, isXml });
}

/** The order number of an item; one that the mapping does not read (`isRead`) may be that of something else. */
export function otherNumber(item: object, mapping: Mapping) {
  const own = find(item, specificNames(mapping.fields.purchaseOrderNumber));
  const found =
    isAbsent(own) && mapping.otherReadings === 'hold' ? ownNumberIn(item, mapping, []) : own;
  const text = textOf(found.value) ?? shown(found.value);
  return isAbsent(found) ? undefined : { found, text, isRead: found === own };
}

/** Objects that group what belongs to a record: `header`, `audit`, `lifecycle`. */
const GROUPS =
  /^(?:(?:order|document)?head(?:er)?|(?:order|document)info|(?:order|document|item|line)?(?:data|details?)|general|kopf(?:daten)?|meta(?:data)?|audit|lifecycle|flags?|node|order|purchaseorder|bestellung|auftrag|beleg|document|dokument)$/;
/** Of an item, these are those of its article. */
const OF_ORDER = /^(?:attributes|properties|fields)$/;

/**
 * Whether what is in an object is about the record: it is a group, the number, the items or the quantity are in it, or it is the element of
 * XML that is the number, the article or the quantity, with attributes. Those of other elements are about these: `<Price unit="100">`.
 */
export function isAboutRecord(
  name: string,
  { key, isOrder }: { key: string; isOrder: boolean },
  mapping: Mapping,
): boolean {
  const known = about[isOrder ? 'order' : 'item'].get(mapping) ?? new Map<string, boolean>();
  about[isOrder ? 'order' : 'item'].set(mapping, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const { purchaseOrderNumber, items, articleCode, quantity } = mapping.fields;
  const [group, own] = [plainName(key).replace(/[-_.]/g, ''), plainName(name)];
  const has = (names: readonly string[], isOwn: (name: string) => boolean) =>
    names.map(plainName).some(isOwn);
  const is =
    // The items are looked at one by one.
    !has(items, (one) => one === own) &&
    (GROUPS.test(group) ||
      (isOrder && OF_ORDER.test(group)) ||
      has([purchaseOrderNumber, items, quantity].flat(), (one) => one.startsWith(`${own}.`)) ||
      has([purchaseOrderNumber, articleCode, quantity].flat(), (one) => one === own));
  if (known.size < MOST_KNOWN && name.length < 100) known.set(name, is);
  return is;
}

type Known = WeakMap<Mapping, Map<string, boolean>>;
const about: Record<'order' | 'item', Known> = { order: new WeakMap(), item: new WeakMap() };
const MOST_KNOWN = 1_000;
