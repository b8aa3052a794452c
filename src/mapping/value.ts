import { plainName } from '../config/mapping-schema.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { Value } from '../parse/record.ts';
import { trimmed } from './line.ts';

/** The key of the text of an XML element that has attributes too: it is called by its element. */
const TEXT_KEY = '#text';

/** Whether a value is an object with keys. */
export function isKeyed(value: Value | undefined): value is { readonly [key: string]: Value } {
  return isObject(value) && !isList(value) && !JSON.isRawJSON(value);
}

/** Whether a value is a list. */
export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function isObject(value: Value | undefined): value is object & Value {
  return typeof value === 'object' && value !== null;
}

/** The text of a value that has no inside; null is empty. */
export function textOfValue(value: Value): string {
  if (typeof value === 'string') return trimmed(value);
  return sourceOfNumber(value) ?? (typeof value === 'boolean' ? String(value) : '');
}

/** Names of files are the same few again and again; one file must not fill the memory with others. */
const known = new Map<string, string>();
const MOST_KNOWN = 2_000;
const LONGEST_KNOWN = 100;

/** `plainName`, remembered. */
export function plainKey(key: string): string {
  const before = known.get(key);
  if (before !== undefined) return before;
  const plain = plainName(key);
  if (key.length > LONGEST_KNOWN) return plain;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, plain);
  return plain;
}

/** The path of a key below another path, for comparison. */
export function stepInto(path: string, key: string): string {
  if (key === TEXT_KEY) return path;
  return path === '' ? plainKey(key) : `${path}.${plainKey(key)}`;
}
