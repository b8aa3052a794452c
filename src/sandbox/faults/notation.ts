import * as z from 'zod';

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** A range with both ends included. */
export type Between = { least: number; most: number };

/** `250ms`, `30s`, `5m` or `1h`, converted to milliseconds; a bare number is milliseconds. */
export const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const found = millisecondsOf(value);
  if (found !== undefined) return found;
  context.issues.push({ code: 'custom', input: value, message: 'must be a duration like 250ms, 30s or 5m' });
  return z.NEVER;
});

/** One duration, or a range: `50ms..2s`. */
export const span = z.union([z.string(), z.number()]).transform((value, context): Between => {
  const [from, to = from, ...rest] = String(value).split('..');
  const least = millisecondsOf(from);
  const most = millisecondsOf(to);
  if (rest.length === 0 && least !== undefined && most !== undefined && least <= most) return { least, most };
  context.issues.push({ code: 'custom', input: value, message: 'must be a duration, or a range like 50ms..2s' });
  return z.NEVER;
});

/** `0.3` or `30%` as a number from 0 to 1. */
export const share = z.union([z.string(), z.number()]).transform((value, context) => {
  const percent = typeof value === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1] : undefined;
  const found = typeof value === 'number' ? value : percent === undefined ? -1 : Number(percent) / 100;
  if (found >= 0 && found <= 1) return found;
  context.issues.push({ code: 'custom', input: value, message: 'must be a share like 0.3 or 30%' });
  return z.NEVER;
});

/** `3`, `1-5`, `10-`, or a list: `1,4-6`. */
export const ordinals = z.union([z.string(), z.number()]).transform((value, context): Between[] => {
  const parts = String(value)
    .split(',')
    .map((part) => /^(\d+)(?:(-)(\d*))?$/.exec(part.trim()));
  const ranges = parts.flatMap((part) => (part === null ? [] : [rangeOf(part)]));
  if (ranges.length === parts.length && ranges.every(({ least, most }) => least >= 1 && least <= most)) return ranges;
  context.issues.push({ code: 'custom', input: value, message: 'must be ordinals from 1, like 3, 1-5, 10- or 1,4-6' });
  return z.NEVER;
});

function rangeOf([, first, dash, last]: RegExpExecArray): Between {
  const least = Number(first);
  if (dash === undefined) return { least, most: least };
  return { least, most: last ? Number(last) : Number.POSITIVE_INFINITY };
}

function millisecondsOf(value: string | number | undefined): number | undefined {
  if (typeof value === 'number') return value >= 0 ? value : undefined;
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const [, amount, unit = ''] = DURATION.exec(value) ?? [];
  const scale = UNITS[unit];
  return scale === undefined ? undefined : Number(amount) * scale;
}
