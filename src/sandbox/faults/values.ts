import * as z from 'zod';

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;

/** A range with both ends included. */
export type Between = { least: number; most: number };

/** Node's timers cannot wait much longer. */
const LONGEST = 500 * 3_600_000;
const A_DURATION = 'must be a duration like 250ms, 30s or 5m, at most 500h';
const A_SPAN = 'must be a duration, or a range like 50ms..2s, at most 500h';
const A_SHARE = 'must be a share like 0.3 or 30%';
const ORDINALS = 'must be ordinals from 1, like 3, 1-5, 10- or 1,4-6';

/** YAML reads `10` as a number. */
export const textOrNumber = (error: string) => z.union([z.string(), z.number()], { error });

/** A value in its own notation; `read` returns undefined for any other text. */
function notation<T>(error: string, read: (value: string | number) => T | undefined) {
  return textOrNumber(error).transform((value, context): T => {
    const found = read(value);
    if (found !== undefined) return found;
    context.issues.push({ code: 'custom', input: value, message: error });
    return z.NEVER;
  });
}

/** `250ms`, `30s`, `5m` or `1h`, converted to milliseconds; a bare number is milliseconds. */
export const duration = notation(A_DURATION, millisecondsOf);

/** The header counts seconds, so a number without a unit would be misread. */
const WITH_UNIT = 'must be a duration with its unit, such as 120s';
export const durationWithUnit = textOrNumber(WITH_UNIT)
  .refine((value) => /\D$/.test(String(value)), WITH_UNIT)
  .pipe(duration);

/** One duration, or a range: `50ms..2s`. */
export const span = notation(A_SPAN, (value): Between | undefined => {
  const [from, to = from, ...rest] = String(value).split('..');
  const least = millisecondsOf(from);
  const most = millisecondsOf(to);
  const isSpan = rest.length === 0 && least !== undefined && most !== undefined && least <= most;
  return isSpan ? { least, most } : undefined;
});

/** `0.3` or `30%` as a number from 0 to 1. */
export const share = notation(A_SHARE, (value) => {
  const percent = typeof value === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1] : undefined;
  const found =
    typeof value === 'number' ? value : percent === undefined ? -1 : Number(percent) / 100;
  return found >= 0 && found <= 1 ? found : undefined;
});

/** `3`, `1-5`, `10-`, or a list: `1,4-6`. */
export const ordinals = notation(ORDINALS, (value): Between[] | undefined => {
  const parts = String(value)
    .split(',')
    .map((part) => /^(\d+)(?:(-)(\d*))?$/.exec(part.trim()));
  const ranges = parts.flatMap((part) => (part === null ? [] : [rangeOf(part)]));
  const isValid =
    ranges.length === parts.length &&
    ranges.every(({ least, most }) => least >= 1 && least <= most);
  return isValid ? ranges : undefined;
});

function rangeOf([, first, dash, last]: RegExpExecArray): Between {
  const least = Number(first);
  if (dash === undefined) return { least, most: least };
  return { least, most: last ? Number(last) : Number.POSITIVE_INFINITY };
}

function millisecondsOf(value: string | number | undefined): number | undefined {
  const [, amount, unit = 'ms'] = DURATION.exec(String(value)) ?? [];
  const scale = UNITS[unit];
  const found =
    typeof value === 'number' ? value : scale === undefined ? -1 : Number(amount) * scale;
  return found >= 0 && found <= LONGEST ? found : undefined;
}
