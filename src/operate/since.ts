import { parseDuration } from '../config/fields.ts';

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a point in time: a duration (`24h`, `7d`) before the current time, or a date (`2026-11-21`, `2026-11-21T07:15Z`).
 * Undefined for anything else. Milliseconds since 1970.
 */
export function readSince(text: string): ((now: number) => number) | undefined {
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : () => at;
}
