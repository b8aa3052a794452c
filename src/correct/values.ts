import { jsonNumber, sourceOfNumber } from '../order/quantity.ts';
import { ExactNumber, type Value } from '../parse/record.ts';

/** A value as it was read, in the form that JSON is written from; numbers keep their source text. */
export function fromValue(value: Value): unknown {
  if (value instanceof ExactNumber) return jsonNumber(value.source);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromValue);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fromValue(inner)]));
}

/** The opposite of `fromValue`. */
export function toValue(value: unknown): Value {
  const source = sourceOfNumber(value);
  if (source !== undefined) return new ExactNumber(source);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map(toValue);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toValue(inner)]));
}
