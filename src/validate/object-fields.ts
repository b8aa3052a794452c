import type { Mapping } from '../config/config.ts';
import { isAmount, type QuantityText, readJsonQuantity, readQuantity, sourceOfNumber } from '../order/quantity.ts';
import type { Place, Problem } from '../order/record.ts';
import { pointerStep, shorten, trimBlanks } from '../order/text.ts';
import { isUncertain, readingsOf } from '../parse/code-pages.ts';
import { type Found, find, isBlank, isObject, shown, textOf } from '../parse/find-key.ts';
import type { LineOf } from '../parse/format.ts';
import { likelyQuantityOf, textOrReadingFault } from './check-row.ts';
import { type Fault, problemOf } from './problem.ts';

/** What objects are checked against. `isGuess`: the encoding of the file is only a guess. */
export type ObjectRules = {
  mapping: Mapping;
  isGuess: boolean;
  lineOf: LineOf;
};

type TextField = 'purchaseOrderNumber' | 'articleCode';

/** The text of a field, "" when it has none. Whole numbers count as their digits, if those are exact. */
export function textIn(value: object, field: TextField, place: Place, rules: ObjectRules, problems: Problem[]): string {
  const { mapping, isGuess } = rules;
  const found = find(value, mapping.fields[field]);
  const preset = field === 'articleCode' ? mapping.defaults.articleCode : undefined;
  const text = isAbsent(found) ? preset : textOf(found.value);
  const none = isAbsent(found) ? 'missing' : 'not-text';
  const fault = found.isAmbiguous ? 'ambiguous-key' : text === undefined ? none : textOrReadingFault(text, mapping);
  if (fault === 'missing')
    problems.push(problemAt(fault, found, place, shown(found.value), namesBeside(value, found, field, mapping)));
  else if (fault)
    problems.push(problemAt(fault, found, place, found.isAmbiguous ? found.keys : (text ?? shown(found.value))));
  if (isGuess && typeof found.value === 'string' && isUncertain(found.value))
    problems.push(problemAt('encoding-unsure', found, place, found.value, readingsOf(found.value, mapping.encoding)));
  return text ?? '';
}

export function quantityOf(found: Found, mapping: Mapping): QuantityText | { fault: Fault } {
  const read = readFound(found, mapping);
  return 'value' in read ? likelyQuantityOf(read, mapping) : read;
}

function readFound(found: Found, mapping: Mapping): QuantityText | { fault: Fault } {
  const isWhole = mapping.quantity === 'integer';
  if (found.isAmbiguous) return { fault: 'ambiguous-key' };
  if (isAbsent(found)) return readQuantity(mapping.defaults.quantity ?? '', mapping.decimal, isWhole);
  if (typeof found.value === 'string') return readQuantity(trimBlanks(found.value), mapping.decimal, isWhole);
  const source = sourceOfNumber(found.value);
  return source === undefined ? { fault: 'not-a-number' } : readJsonQuantity(source, isWhole);
}

export function isAbsent({ value }: Found): boolean {
  return isBlank(value);
}

export function problemAt(fault: Fault, found: Found, place: Place, value: string, detail = value): Problem {
  const pointer = `${place.pointer ?? ''}${found.pointer}`;
  return problemOf(fault, { line: place.line, pointer }, found.name, value, detail);
}

/** The keys that an object has instead of the one that was looked for; "" when it has that. */
function keysBeside(value: object, found: Found): string {
  if (found.value !== undefined) return '';
  const keys = Object.keys(value).slice(0, SHOWN_KEYS);
  return shorten(keys.map((key) => JSON.stringify(key)).join(', '), 120);
}

const WORDS = { purchaseOrderNumber: 'order number', articleCode: 'article code', quantity: 'quantity' } as const;

/** As `keysBeside`, and which of them the mapping can name as this field. */
export function namesBeside(value: object, found: Found, field: keyof typeof WORDS, { fields }: Mapping): string {
  const known = Object.values(fields).map((names) => find(value, names).name);
  const names = Object.entries(value).flatMap(([key, inner]) => {
    const inside = isObject(inner) ? Object.entries(inner).map(([name, one]) => [`${key}.${name}`, one] as const) : [];
    return [[key, inner] as const, ...inside].filter(([name]) => !known.includes(name));
  });
  const numbers = names.filter(([, one]) => isAmount(one));
  // One key cannot be two fields: the only number of an item is its quantity, if it has no other.
  const only = field === 'articleCode' && numbers.length === 1 && isAbsent(find(value, fields.quantity));
  const texts = names.filter((one) => textOf(one[1]) && !(only && numbers.includes(one)));
  const others = (field === 'quantity' ? numbers : texts).slice(0, SHOWN_KEYS).map(([name]) => name);
  if (found.value !== undefined || others.length === 0) return keysBeside(value, found);
  const which = others.map((name) => JSON.stringify(shorten(name, 60))).join(' or ');
  return `${keysBeside(value, found)}. For your operator: if ${which} is the ${WORDS[field]}, name it as fields.${field} in the mapping of the source`;
}

/** Whether an object has an article with a quantity, or an order number with items. */
export function isRecord(value: object, { fields }: Mapping): boolean {
  const has = (names: readonly string[]) => !isAbsent(find(value, names));
  if (has(fields.articleCode) && has(fields.quantity)) return true;
  return has(fields.purchaseOrderNumber) && (has(fields.items) || has(fields.articleCode) || has(fields.quantity));
}

/** A list of objects, or a single item, under another name than those of the mapping. */
type OtherList = { path: string[]; pointer: string; hasItems: boolean };

/** The only list that can be the items of an order that has none under the names of the mapping. */
export function itemsElsewhere(value: object, found: Found, mapping: Mapping): OtherList | undefined {
  if (found.value !== undefined || found.isAmbiguous) return undefined;
  const lists = listsIn(value, mapping, { path: [], pointer: '' });
  const [only, ...others] = lists.filter((list) => list.hasItems || lists.every(({ hasItems }) => !hasItems));
  return others.length === 0 ? only : undefined;
}

function listsIn(value: object, mapping: Mapping, at: Pick<OtherList, 'path' | 'pointer'>): OtherList[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = { path: [...at.path, key], pointer: at.pointer + pointerStep(key) };
    // A single item of XML is no list yet.
    if (isObject(inner) && isRecord(inner, mapping)) return [{ ...own, hasItems: true }];
    if (isObject(inner)) return own.path.length < 3 ? listsIn(inner, mapping, own) : [];
    if (!Array.isArray(inner) || !inner.some(isObject)) return [];
    return [{ ...own, hasItems: inner.some((one: unknown) => isObject(one) && isRecord(one, mapping)) }];
  });
}

/** As `keysBeside`, and what the mapping can name as the list of items. */
export function listsBeside(value: object, found: Found, mapping: Mapping): string {
  const list = itemsElsewhere(value, found, mapping);
  if (list === undefined) return keysBeside(value, found);
  const name = JSON.stringify(shorten(list.path.join('.'), 60));
  const more = list.hasItems ? '' : '. Name the article code and the quantity of its items there too';
  return `${keysBeside(value, found)}. For your operator: if ${name} is the list of items, name it in fields of the mapping of the source: items: ${name}${more}`;
}

/** Keys in a message. */
export const SHOWN_KEYS = 10;
