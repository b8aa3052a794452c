import type { Mapping } from '../config/config.ts';
import { readsStandardNumber, specificNames } from '../config/mapping-schema.ts';
import { isAmount } from '../order/quantity.ts';
import { PURCHASE_ORDER, usualFieldOf } from '../order/record-kind.ts';
import { plainText, pointerStep, shorten } from '../order/text.ts';
import { type Found, find, isBlank, isObject, SHOWN_KEYS, textOf } from '../parse/find-key.ts';
import { recordsHint } from '../parse/inspection.ts';

export function isAbsent({ value }: Found): boolean {
  return isBlank(value);
}

/** The keys that an object has instead of the one that was looked for; "" when it has that. */
function keysBeside(value: object, found: Found): string {
  if (found.value !== undefined) return '';
  const keys = Object.keys(value).slice(0, SHOWN_KEYS);
  return shorten(keys.map((key) => JSON.stringify(key)).join(', '), 120);
}

const WORDS = {
  purchaseOrderNumber: 'order number',
  articleCode: 'article code',
  quantity: 'quantity',
} as const;

/** As `keysBeside`, and which of them the mapping can name as this field. */
export function namesBeside(
  value: object,
  found: Found,
  field: keyof typeof WORDS,
  mapping: Mapping,
): string {
  const { fields } = mapping;
  const known = Object.values(fields).map((names) => find(value, names).name);
  const names = Object.entries(value).flatMap(([key, inner]) => {
    const inside = isObject(inner)
      ? Object.entries(inner).map(([name, one]) => [`${key}.${name}`, one] as const)
      : [];
    return [[key, inner] as const, ...inside].filter(([name]) => !known.includes(name));
  });
  const numbers = names.filter(([, one]) => isAmount(one));
  // One key cannot be two fields: the only number of an item is its quantity, if it has no other.
  const only =
    field === 'articleCode' && numbers.length === 1 && isAbsent(find(value, fields.quantity));
  const texts = names.filter((one) => textOf(one[1]) && !(only && numbers.includes(one)));
  const others = (field === 'quantity' ? numbers : texts)
    .slice(0, SHOWN_KEYS)
    .map(([name]) => name);
  // The number of an export is next to its orders.
  const around =
    field === 'purchaseOrderNumber'
      ? listElsewhere(value, find(value, fields.items), mapping)
      : undefined;
  const isAround = around !== undefined && ['orders', 'either', 'keyed'].includes(around.holds);
  if (found.value !== undefined || others.length === 0 || isAround) return keysBeside(value, found);
  const which = others.map((name) => JSON.stringify(shorten(name, 60))).join(' or ');
  return `${keysBeside(value, found)}. For your operator: if ${which} is the ${WORDS[field]}, name it as fields.${field} in the mapping of the source`;
}

/** Whether an object has an article with a quantity, or an order number with items. */
export function isRecord(value: object, { fields }: Mapping): boolean {
  const has = (names: readonly string[]) => !isAbsent(find(value, names));
  if (has(fields.articleCode) && has(fields.quantity)) return true;
  return (
    has(fields.purchaseOrderNumber) &&
    (has(fields.items) || has(fields.articleCode) || has(fields.quantity))
  );
}

const STANDARD: readonly string[] = [PURCHASE_ORDER.fields.number];

/** The order number of an item, or of an order within another: under `names`, or the standard name. */
export function ownNumberIn(value: object, mapping: Mapping, names: readonly string[]): Found {
  const found = find(value, names);
  return isAbsent(found) && !readsStandardNumber(mapping.fields) ? find(value, STANDARD) : found;
}

/** The only list that can be the items of an order that has none under the names of the mapping, or the orders of the file. */
export function listElsewhere(
  value: object,
  found: Found,
  mapping: Mapping,
): OtherList | undefined {
  if (found.value !== undefined || found.isAmbiguous) return undefined;
  const keyed = keyedIn(value, { path: [], pointer: '' });
  const all = listsIn(value, { mapping, around: value }, { path: [], pointer: '' });
  // With a number or other items, the keys are something else, such as dates.
  const number =
    textOf(find(value, mapping.fields.purchaseOrderNumber).value) ?? usualNumberIn(value, mapping);
  const isOther = ({ pointer, isLikeItems }: OtherList) =>
    isLikeItems && !pointer.startsWith(`${keyed?.pointer}/`);
  if (keyed !== undefined && number === undefined && !all.some(isOther)) return keyed;
  // An order has other lists next to its items, such as deliveries with their own lines.
  const lists = all.some(({ isLikeItems }) => isLikeItems) ? all.map(withoutDeep) : all;
  const best = lists.filter(({ holds }) => holds === bestOf(lists));
  const like = best.filter(({ isLikeItems }) => isLikeItems);
  const [only, ...others] = like.length === 1 ? like : best;
  // With a number and items, it can be an order beside others, such as deliveries.
  const isUnsure =
    only?.holds === 'orders' &&
    number !== undefined &&
    lists.some(({ holds }) => holds === 'items');
  return others.length === 0 && !isUnsure ? only : undefined;
}

/** A list of objects, or a single one as in XML, under another name than those of the mapping. */
type OtherList = Content & { path: string[]; pointer: string };
/** `isDeep`: only what is deeper in its elements says so. `isLikeItems`: they have what items have, under usual names. */
type Content = { holds: (typeof CONTENTS)[number]; isDeep?: boolean; isLikeItems?: boolean };
/** `either`: orders, or items that have lists too. `keyed`: no list, but an object whose keys are the numbers of its orders. */
const CONTENTS = ['keyed', 'orders', 'items', 'either', 'objects'] as const;

const withoutDeep = (list: OtherList): OtherList =>
  list.isDeep ? { ...list, holds: 'objects' } : list;

const bestOf = (lists: readonly OtherList[]) =>
  CONTENTS.find((one) => lists.some(({ holds }) => holds === one));

type Around = { mapping: Mapping; around: object };

function listsIn(
  value: object,
  given: Around,
  at: Pick<OtherList, 'path' | 'pointer'>,
): OtherList[] {
  return Object.entries(value).flatMap(([key, inner]): OtherList[] => {
    const own = { path: [...at.path, key], pointer: at.pointer + pointerStep(key) };
    if (isObject(inner)) {
      const holds = isHead(inner, given)
        ? 'objects'
        : isSplit(inner, given)
          ? 'orders'
          : contentOf([inner], given, true);
      if (holds !== 'objects') return [{ ...own, holds }];
      return own.path.length < 3 ? listsIn(inner, given, own) : [];
    }
    const objects = Array.isArray(inner) ? inner.filter(isObject) : [];
    const content: Content = ORDERS.test(plainText(key, ''))
      ? { holds: 'orders' }
      : contentOfList(objects, given);
    return objects.length === 0 ? [] : [{ ...own, ...content }];
  });
}

/** Whether an object has nothing of an order but perhaps its number: its items are next to it. */
function isHead(value: object, { mapping }: Around): boolean {
  const all = [value, ...objectsWithin(value)];
  return !hasUsual(value, mapping) && !all.some((one) => Object.values(one).some(isListOfObjects));
}

/** Whether an order is in an object, with its number in another one than its items: `{ header: { … }, lines: { line: [ … ] } }`. */
function isSplit(value: object, { mapping, around }: Around): boolean {
  const numberIn = (one: object) =>
    textOf(ownNumberIn(one, mapping, mapping.fields.purchaseOrderNumber).value) ||
    usualNumberIn(one, mapping);
  if (numberIn(around) || numberIn(value)) return false;
  const parts = Object.values(value);
  const isNumber = (one: unknown) =>
    isObject(one) && isHead(one, { mapping, around }) && numberIn(one);
  return (
    parts.some(isNumber) &&
    parts.some(
      (one) => isListOfObjects(one) || (isObject(one) && !isHead(one, { mapping, around })),
    )
  );
}

const NUMBER = /^\p{L}{0,3}[-_ ]?\d/u;

/** The object, at most two levels deeper, whose keys look like order numbers and whose values like orders. */
function keyedIn(value: object, at: Pick<OtherList, 'path' | 'pointer'>): OtherList | undefined {
  const first = Object.entries(value).slice(0, MOST_ELEMENTS);
  const isOne = ([key, inner]: [string, unknown]) =>
    NUMBER.test(key) &&
    isObject(inner) &&
    [inner, ...objectsWithin(inner)].some((one) => Object.values(one).some(isListOfObjects));
  if (first.length > 0 && first.every(isOne)) return { ...at, holds: 'keyed' };
  if (at.path.length === 2) return undefined;
  for (const [key, inner] of first) {
    const place = { path: [...at.path, key], pointer: at.pointer + pointerStep(key) };
    const found = isObject(inner) ? keyedIn(inner, place) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const ORDERS = /^(?:purchase)?orders$|^bestellungen$|^auftrage$/;

/** `isAlone`: of one object, which may as well be a part of the order that has its items. */
function contentOf(objects: readonly object[], given: Around, isAlone = false): OtherList['holds'] {
  if (objects.some((one) => isOrder(one, given, isAlone))) return 'orders';
  return objects.some((one) => isRecord(one, given.mapping)) ? 'items' : 'objects';
}

/** As `contentOf`, also by what is deeper in the first elements, for the list of an object whose order number is not known. */
function contentOfList(objects: readonly object[], given: Around): Content {
  const { mapping, around } = given;
  const holds = contentOf(objects, given);
  const first = objects.slice(0, MOST_ELEMENTS);
  const isLikeItems = holds === 'items' || first.some((one) => hasUsual(one, mapping));
  const isNumbered = textOf(find(around, mapping.fields.purchaseOrderNumber).value) !== undefined;
  if (holds !== 'objects' || isNumbered) return { holds, isLikeItems };
  const isIn = usualNumberIn(around, mapping) !== undefined;
  const inner = first.flatMap((one) => objectsWithin(one));
  if (!isIn && inner.some((one) => usualNumberIn(one, mapping) !== undefined))
    return { holds: 'orders', isDeep: true };
  const lists = [...first, ...inner].flatMap((one) => Object.values(one).filter(isListOfObjects));
  const hasItems = lists.some((list) =>
    list.some((one) => isObject(one) && hasUsual(one, mapping)),
  );
  if (lists.length === 0 || (isLikeItems && (!hasItems || isIn))) return { holds, isLikeItems };
  return { holds: hasItems && !isLikeItems && !isIn ? 'orders' : 'either', isDeep: true };
}

/** Elements of a list that are looked into. */
const MOST_ELEMENTS = 20;

const isListOfObjects = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.some(isObject);

/** The objects in an object, and those in them, but not those in lists. */
function objectsWithin(value: object, depth = 2): object[] {
  const inner = depth === 0 ? [] : Object.values(value).filter(isObject);
  return inner.flatMap((one) => [one, ...objectsWithin(one, depth - 1)]);
}

/** Whether an object has an article or a quantity, under a usual name or that of the mapping. */
function hasUsual(value: object, { fields }: Mapping): boolean {
  return [value, ...objectsWithin(value)].some((one) => {
    const isUsual = Object.keys(one).some((key) =>
      ['articleCode', 'quantity'].includes(usualFieldOf(key) ?? ''),
    );
    return (
      isUsual || !isAbsent(find(one, fields.articleCode)) || !isAbsent(find(one, fields.quantity))
    );
  });
}

/** Whether an object has another order number than the one around it, or a list of items without being one. */
function isOrder(value: object, { mapping, around }: Around, isAlone: boolean): boolean {
  const { fields } = mapping;
  const own = textOf(find(around, fields.purchaseOrderNumber).value);
  // The envelope may have a number under the same name, such as id.
  const mapped = isAbsent(find(value, fields.items))
    ? undefined
    : textOf(find(value, fields.purchaseOrderNumber).value);
  if (mapped !== undefined && mapped !== own) return true;
  const names =
    own === undefined ? fields.purchaseOrderNumber : specificNames(fields.purchaseOrderNumber);
  // With a number of the order, the other names may be those of an article: Bestellnummer.
  const usual = own === undefined ? usualNumberIn(value, mapping) : undefined;
  const number = textOf(ownNumberIn(value, mapping, names).value) || usual;
  if (number) return number !== (own ?? usualNumberIn(around, mapping));
  return (
    !isAlone &&
    Array.isArray(find(value, fields.items).value) &&
    isAbsent(find(value, fields.articleCode))
  );
}

/** The order number under a name that files usually have for it, and that the mapping reads as no other field. */
function usualNumberIn(value: object, { fields }: Mapping): string | undefined {
  const read = Object.values(fields).map((names) => find(value, names).name);
  const key = Object.keys(value).find(
    (name) => usualFieldOf(name) === 'purchaseOrderNumber' && !read.includes(name),
  );
  return key === undefined ? undefined : textOf(Reflect.get(value, key));
}

/** As `keysBeside`, and what the mapping can name as the list of items, or of orders. */
export function listsBeside(
  value: object,
  found: Found,
  mapping: Mapping,
  place: { pointer?: string; isXml: boolean },
): string {
  const list = listElsewhere(value, found, mapping);
  if (list === undefined) return keysBeside(value, found);
  if (list.holds === 'keyed') return `${keysBeside(value, found)}${KEYED}`;
  const records =
    list.holds === 'orders' || list.holds === 'either' ? recordsHint(list.path, place) : '';
  const name = JSON.stringify(shorten(list.path.join('.'), 60));
  const orItems =
    list.holds === 'either' && records !== ''
      ? `; if it is the list of items of one order, in fields: items: ${name}`
      : '';
  if (list.holds === 'orders' || list.holds === 'either')
    return `${keysBeside(value, found)}${records}${orItems}`;
  const more =
    list.holds === 'items' ? '' : '. Name the article code and the quantity of its items there too';
  return `${keysBeside(value, found)}. For your operator: if ${name} is the list of items, name it in fields of the mapping of the source: items: ${name}${more}`;
}

/** What the mapping can name as the list of items where that is the only thing in an object. */
export function listInside({ name, value }: Found): string {
  const [only, ...others] = isObject(value) ? Object.entries(value) : [];
  if (only === undefined || others.length > 0 || !isListOfObjects(only[1])) return '';
  const list = JSON.stringify(shorten(`${name}.${only[0]}`, 60));
  return `. For your operator: if ${list} is the list of items, name it in fields of the mapping of the source: items: ${list}`;
}

const KEYED =
  '. For your operator: orders whose numbers are keys are not supported. A list of objects is, each with its number as a value: [{"purchaseOrderNumber": "4711", "items": [ … ]}]';
