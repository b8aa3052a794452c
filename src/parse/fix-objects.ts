import type { Mapping } from '../config/config.ts';
import { readFixCheck, readFixNote } from '../order/fixing.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Doubt, FixFacts } from '../order/record.ts';
import { isSpreadsheetDamage, isUnsureDamage } from '../order/spreadsheet.ts';
import { plainName, pointerStep } from '../order/text.ts';
import { FIELDS } from './columns.ts';
import { find, isBlank, isObject } from './find-key.ts';
import {
  guessedReadings,
  isDamaged,
  isOfOtherBatch,
  type Originals,
  placeNamedBy,
  quoted,
  readingsOfReturned,
} from './read-fix-file.ts';
import { type At, placeOf, refuseRenamed } from './unreadable.ts';

type Fields = Record<string, unknown>;

/** What an object of a fix file says about itself, from the keys that po-sync added. */
export function objectFacts(errorKeys: Fields): FixFacts {
  const { _error_message: message, _error_line: line, _error_check: check } = errorKeys;
  const fixTarget = typeof message === 'string' ? readFixNote(message) : undefined;
  const number = Number(shownText(line));
  return {
    ...(number > 0 && { line: number }),
    ...(fixTarget && { fixTarget }),
    ...(readFixCheck(shownText(check)) === 'confirmed' && { isConfirmed: true }),
  };
}

const DANGEROUS = '__proto__';

/** `lost`: the keys that objects came back without, and a text that says where first; `where`: of this object. */
type Lost = { mapping: Mapping; lost: Map<string, string>; where: () => string };

/**
 * Brings back the keys that an object of a fix file came back without: they are unchanged. Lists are not, and neither is
 * what is removed as a message asks for: an order within another one, and a second key for a field.
 */
function bringBack(now: Fields, was: Fields, { mapping, lost, where }: Lost, whole = now): void {
  const { fields } = mapping;
  const names = new Set(Object.keys(now).map(plainName));
  const isAmbiguous = () => Object.values(fields).some((one) => find(whole, one).isAmbiguous);
  const wasAmbiguous = isAmbiguous();
  const before = new Set(Object.keys(was).map(plainName));
  const fresh = Object.keys(now).filter((key) => !before.has(plainName(key)));
  for (const [key, value] of Object.entries(was)) {
    if (key === DANGEROUS) continue;
    const inner = now[key];
    if (isObject(value) && isObject(inner))
      bringBack(inner, value, { mapping, lost, where }, whole);
    if (names.has(plainName(key)) || !isPlain(value, fields)) continue;
    now[key] = value;
    if (!wasAmbiguous && isAmbiguous()) delete now[key];
    else {
      if (FIELDS.some((field) => fields[field].some((name) => plainName(name) === plainName(key))))
        refuseRenamed('key', key, fresh, where);
      if (!lost.has(key)) lost.set(key, `${quoted(key)}, first in ${where()}`);
    }
  }
}

function numberIn(value: Fields, { fields }: Mapping): string {
  return shownText(find(value, fields.purchaseOrderNumber).value).trim();
}

/** Whether a value has something in it, but no list, and nothing of an order. */
function isPlain(value: unknown, fields: Mapping['fields']): boolean {
  if (!isObject(value)) return !isBlank(value) && !Array.isArray(value);
  const isOrder = Object.values(fields).some((names) => find(value, names).value !== undefined);
  return (
    !isOrder && Object.values(value).every((inner) => isBlank(inner) || isPlain(inner, fields))
  );
}

/** The same for each item: it was the one with its article, or the one in its place if its article is another one now. */
function bringBackItems(
  now: Fields,
  was: Fields,
  { mapping, lost }: Omit<Lost, 'where'>,
  place: At,
): void {
  const { value: list, pointer } = find(now, mapping.fields.items);
  const old = find(was, mapping.fields.items).value;
  if (!Array.isArray(list) || !Array.isArray(old)) return;
  const articleOf = (item: unknown) =>
    isObject(item) ? shownText(find(item, mapping.fields.articleCode).value).trim() : '';
  const [articles, before] = [list.map(articleOf), old.map(articleOf)];
  for (const [index, item] of list.entries()) {
    const article = articles[index] ?? '';
    const isSame = (one: string) =>
      one === article || (article !== '' && isSpreadsheetDamage(one, article));
    const at = article === '' ? -1 : before[index] === article ? index : before.findIndex(isSame);
    const isChanged =
      list.length === old.length && (article === '' || !articles.includes(before[index] ?? ''));
    const original: unknown = at < 0 && !isChanged ? undefined : old[at < 0 ? index : at];
    const where = () => placeOf(place, numberIn(now, mapping), `${pointer}${pointerStep(index)}`);
    if (isObject(item) && isObject(original)) bringBack(item, original, { mapping, lost, where });
  }
}

/** How the values of one object came back. `before`: the readings of values that were held before. */
type Comparison = {
  fields: Mapping['fields'];
  mayBeChanged: boolean;
  code: string | undefined;
  isKnown: boolean;
  before: ReadonlyMap<string, string> | undefined;
  doubts: Doubt[];
  restored: number;
};

/** Restores in an object of a fix file what a program changed, and finds what has two readings. */
export function compareObject(
  value: Fields,
  facts: FixFacts & { at: At },
  errorKeys: Fields,
  originals: Originals | undefined,
  mapping: Mapping,
): { doubts: readonly Doubt[]; restored: number; lost: ReadonlyMap<string, string> } {
  const place = isOfOtherBatch(facts, originals)
    ? ''
    : (placeNamedBy({ kind: 'object', ...facts }) ?? '');
  const record = originals?.records.get(place);
  const original = record?.kind === 'object' && isObject(record.value) ? record.value : undefined;
  const { _error_check: check, _error_code: code } = errorKeys;
  const lost = new Map<string, string>();
  if (original !== undefined)
    bringBack(value, original, {
      mapping,
      lost,
      where: () => placeOf(facts.at, numberIn(value, mapping)),
    });
  if (original !== undefined) bringBackItems(value, original, { mapping, lost }, facts.at);
  const comparison: Comparison & { lost: ReadonlyMap<string, string> } = {
    fields: mapping.fields,
    lost,
    mayBeChanged: /rewritten|missing/.test(readFixCheck(shownText(check))),
    code: typeof code === 'string' ? code : undefined,
    isKnown: original !== undefined && originals?.doubted !== undefined,
    before: originals?.doubted?.get(place),
    doubts: [],
    restored: 0,
  };
  if (facts.isConfirmed === true) return comparison;
  for (const field of ['purchaseOrderNumber', 'articleCode', 'quantity'] as const)
    compareValue(value, original, field, '', comparison);
  compareItems(value, original, comparison);
  return comparison;
}

type SentField = 'purchaseOrderNumber' | 'articleCode' | 'quantity';

/** Compares one value; `at` is the pointer of the object that has it. */
function compareValue(
  now: Fields,
  was: Fields | undefined,
  field: SentField,
  at: string,
  on: Comparison,
): void {
  const names = on.fields[field];
  const [found, before] = [find(now, names), was === undefined ? undefined : find(was, names)];
  const [text, old] = [
    shownText(found.value),
    before === undefined ? undefined : shownText(before.value),
  ];
  const isQuantity = field === 'quantity';
  const returned = {
    was: old,
    now: text,
    isQuantity,
    mayBeChanged: on.mayBeChanged,
    code: on.code,
  };
  if (before?.value !== undefined && isDamaged(returned)) {
    setAt(now, found.value === undefined ? before.pointer : found.pointer, before.value);
    on.restored += 1;
    return;
  }
  if (found.value === undefined) return;
  const isOld = on.isKnown || (old !== undefined && old !== text);
  const readings =
    readingsOfReturned(returned, on.before?.get(text)) ??
    (isOld ? undefined : guessedReadings(on.code, text, isQuantity));
  if (readings !== undefined)
    on.doubts.push({ field: found.name, value: text, readings, pointer: at + found.pointer });
}

/** Compares each item with the one that it was, wherever that is now. */
function compareItems(value: Fields, original: Fields | undefined, on: Comparison): void {
  const [list, old] = [
    find(value, on.fields.items),
    original && find(original, on.fields.items).value,
  ];
  if (!Array.isArray(list.value)) return;
  const items = list.value.filter(isObject);
  const before = Array.isArray(old) ? old.filter(isObject) : undefined;
  const isInPlace =
    before !== undefined &&
    items.length === before.length &&
    items.every((item, i) => isLike(item, before[i], on));
  for (const [index, item] of items.entries()) {
    const at = `${list.pointer}${pointerStep(list.value.indexOf(item))}`;
    const was = isInPlace ? before[index] : before && itemBefore(item, before, at, on);
    if (was === 'unsure') continue;
    const isAdded = before !== undefined && was === undefined;
    const one = isAdded ? { ...on, mayBeChanged: false, isKnown: true } : on;
    for (const field of ['articleCode', 'quantity'] as const)
      compareValue(item, was, field, at, one);
    on.restored = Math.max(on.restored, one.restored);
  }
}

/** Whether every value that is sent can be that of the original, as it was or as a program changed it. */
function isLike(now: Fields, was: Fields | undefined, on: Comparison): boolean {
  return (
    was !== undefined &&
    (['articleCode', 'quantity'] as const).every((field) => isSameValue(now, was, field, on))
  );
}

function isSameValue(
  now: Fields,
  was: Fields,
  field: SentField,
  { fields, mayBeChanged }: Comparison,
): boolean {
  const [text, old] = [now, was].map((one) => shownText(find(one, fields[field]).value)) as [
    string,
    string,
  ];
  return (
    text === old ||
    isDamaged({
      was: old,
      now: text,
      isQuantity: field === 'quantity',
      mayBeChanged,
      code: undefined,
    })
  );
}

/**
 * The item that an item was, by its article; undefined for an item that a person added. `unsure`: it can be several, or
 * one whose other values a program may have changed; that is a doubt.
 */
function itemBefore(
  now: Fields,
  before: readonly Fields[],
  at: string,
  on: Comparison,
): Fields | 'unsure' | undefined {
  const article = find(now, on.fields.articleCode);
  const alike = before.filter((was) => isSameValue(now, was, 'articleCode', on));
  const articleOf = (was: Fields) => shownText(find(was, on.fields.articleCode).value);
  const outcomes = new Set(
    alike.map((was) => JSON.stringify([articleOf(was), quantityFrom(now, was, on)])),
  );
  const isUnsure = (was: Fields) => isUnsureDamage(quantityOf(was, on), quantityOf(now, on));
  if (outcomes.size === 1) return alike.find(isUnsure) ?? alike[0];
  const others =
    alike.length > 0
      ? [...new Set(alike.map(articleOf))]
      : on.mayBeChanged
        ? rewrittenBy(now, before, on)
        : [];
  if (others.length === 0) return undefined;
  const text = shownText(article.value);
  const readings = `${quoted(text)} can be a new item, or ${others.slice(0, 5).map(quoted).join(' or ')} as a program changed it`;
  on.doubts.push({ field: article.name, value: text, readings, pointer: at + article.pointer });
  return 'unsure';
}

/** The quantity of an item if it was this one. */
function quantityFrom(now: Fields, was: Fields, on: Comparison): string {
  return quantityOf(isSameValue(now, was, 'quantity', on) ? was : now, on);
}

function quantityOf(item: Fields, { fields }: Comparison): string {
  return shownText(find(item, fields.quantity).value);
}

/** The articles of items whose quantity can be that of an item with another article, as a program changed it. */
function rewrittenBy(now: Fields, before: readonly Fields[], on: Comparison): string[] {
  const quantity = quantityOf(now, on);
  return before
    .filter(
      (was) =>
        isSpreadsheetDamage(quantityOf(was, on), quantity) ||
        isUnsureDamage(quantityOf(was, on), quantity),
    )
    .map((was) => shownText(find(was, on.fields.articleCode).value));
}

function shownText(value: unknown): string {
  return typeof value === 'string' ? value : (sourceOfNumber(value) ?? '');
}

/** Sets what a JSON pointer of keys leads to. */
export function setAt(value: Record<string, unknown>, pointer: string, next: unknown): void {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop() ?? '';
  let current = value;
  for (const key of keys) {
    const inner = current[key];
    if (isObject(inner)) current = inner;
  }
  current[last] = next;
}
