import { readFixNote } from '../../order/fixing.ts';
import type { FixTarget } from '../../order/record.ts';

const PREFIX = '_error_';

/** Removes the keys that a fix file adds from an order's object; returns whether there were any. */
export function takeErrorKeys(value: unknown): boolean {
  if (!isObject(value)) return false;
  let found = false;
  for (const key in value) {
    if (!key.startsWith(PREFIX)) continue;
    found = true;
    delete value[key];
  }
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The dead letter that an object of a fix file names. */
export function fixTargetIn(value: unknown): FixTarget | undefined {
  if (!isObject(value) || typeof value['_error_message'] !== 'string') return undefined;
  return readFixNote(value['_error_message']);
}
