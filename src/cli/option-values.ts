import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/fields.ts';

/** A point in time, given the current time; both milliseconds since 1970. */
export type Since = (now: number) => number;

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Parses `--since`: a duration (`24h`, `7d`) or a date (`2026-11-21`, `2026-11-21T07:15Z`). */
export function readSince(text: string): Since {
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('Enter a duration such as 24h or 7d, or a date: 2026-11-21.');
  return () => at;
}

/** Parses a whole number above 0, such as that of `--limit`. */
export function readWhole(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Enter a whole number above 0, such as 100.');
  return Number(text);
}

/** Parses a duration as in the configuration: 250ms, 30s, 5m, 1h, 90d. Returns milliseconds. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Enter a duration such as 30s, 15m or 1h.');
  return ms;
}
