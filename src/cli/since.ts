import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/duration.ts';

/** A point in time, once it is known what time it is; milliseconds since 1970. */
export type Since = (now: number) => number;

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Reads `--since`: how long ago (`24h`, `7d`), or a date (`2026-11-21`, `2026-11-21T07:15Z`). */
export function readSince(text: string): Since {
  const ago = parseDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('Say how long ago, such as 24h or 7d, or a date: 2026-11-21.');
  return () => at;
}
