import type { Mapping } from '../config/config.ts';
import { readFixCheck } from '../order/fixing.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { SourceRecord } from '../order/record.ts';
import { isSpreadsheetDamage } from '../order/spreadsheet.ts';
import { find, isObject, setAt } from './find-key.ts';
import type { Originals } from './read-fix-file.ts';

type ObjectRecord = Extract<SourceRecord, { kind: 'object' }>;

/** The place that an object of a fix file names: of its dead letter, or its line. */
export function placeNamedBy({ fixTarget, line }: Pick<ObjectRecord, 'fixTarget' | 'line'>): string | undefined {
  return fixTarget?.place ?? (line === undefined ? undefined : `line ${line}`);
}

/**
 * Restores what a program changed in an object of a fix file, as its check shows. Returns how many values that were, or
 * `unproved` if the original is not known.
 */
export function restoreObject(
  record: ObjectRecord,
  check: unknown,
  originals: Originals | undefined,
  { fields }: Mapping,
): number | 'unproved' {
  const { value } = record;
  const key = placeNamedBy(record);
  const isOther = record.fixTarget !== undefined && record.fixTarget.batch !== originals?.batch;
  if (originals === undefined || key === undefined || isOther || !isObject(value)) return 0;
  if (readFixCheck(typeof check === 'string' ? check : textOf(check)) === 'intact') return 0;
  const original = originals.objects.get(key);
  if (!isObject(original)) return 'unproved';
  const own = [fields.purchaseOrderNumber, fields.articleCode, fields.quantity];
  let count = restoreIn(value, original, own);
  const [items, before] = [find(value, fields.items).value, find(original, fields.items).value];
  if (!Array.isArray(items) || !Array.isArray(before)) return count;
  for (const [index, item] of items.entries()) {
    const was: unknown = before[index];
    if (isObject(item) && isObject(was)) count += restoreIn(item, was, [fields.articleCode, fields.quantity]);
  }
  return count;
}

function restoreIn(now: Record<string, unknown>, was: object, fields: readonly (readonly string[])[]): number {
  let count = 0;
  for (const names of fields) {
    const [found, before] = [find(now, names), find(was, names)];
    if (before.value === undefined || !isSpreadsheetDamage(textOf(before.value), textOf(found.value))) continue;
    setAt(now, found.value === undefined ? before.pointer : found.pointer, before.value);
    count += 1;
  }
  return count;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (sourceOfNumber(value) ?? '');
}
