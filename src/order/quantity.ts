/**
 * The decimal sign of a text. `auto` reads what can be read in one way only and reports the rest as ambiguous.
 */
export type Decimal = '.' | ',' | 'auto';

export type QuantityFault =
  | 'missing'
  | 'not-a-number'
  | 'ambiguous-number'
  | 'not-whole'
  | 'not-positive'
  | 'too-large'
  | 'too-precise';

/** `sign` is the decimal sign, if the text shows it unambiguously. */
export type QuantityText = { value: number; sign?: '.' | ',' } | { fault: QuantityFault };

const PLAIN_WHOLE = /^[1-9]\d{0,14}$/;
/** Spaces that separate thousands: plain, no-break, narrow no-break and thin. */
const SIGNED = /^([+-]?)(\d[\d.,'’ \u00a0\u202f\u2009]*?|[.,]\d+)(-?)$/u;

/** Groups of three digits with the same separator. */
const GROUPED = /^[1-9]\d{0,2}(?:([.,'’ \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*$/u;
const DIGITS = /^\d+$/;

/** One separator with one to three digits before and three after it: 1,000 can mean a thousand or one. */
const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/;

/** Digits that a double keeps exactly. More are refused, so that the number sent is the number read. */
const KEPT_DIGITS = 15;

/**
 * Reads a trimmed text as a quantity: digits, groups of thousands, at most one decimal sign, a sign before or (as SAP
 * writes it) after the digits. No exponent, no hexadecimal. `integer` refuses fractions.
 */
export function readQuantity(text: string, decimal: Decimal, integer: boolean): QuantityText {
  if (PLAIN_WHOLE.test(text)) return { value: Number(text) };
  if (text === '') return { fault: 'missing' };
  const [, before, digits, behind] = SIGNED.exec(text) ?? [];
  if (digits === undefined || (before !== '' && behind !== '')) return { fault: 'not-a-number' };
  const parts = split(digits, decimal);
  if ('fault' in parts) return parts;
  const fault = faultOf(parts, before === '-' || behind === '-', integer);
  if (fault !== undefined) return { fault };
  const value = Number(
    parts.fraction === '' ? parts.integer : `${parts.integer}.${parts.fraction}`,
  );
  return parts.sign === undefined ? { value } : { value, sign: parts.sign };
}

/** A JSON number by the JSON grammar (RFC 8259), from its source text; refuses exponents. */
export function readJsonQuantity(source: string, integer: boolean): QuantityText {
  const [, minus, digits, fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(source) ?? [];
  if (digits === undefined) return { fault: 'not-a-number' };
  const parts = { integer: digits, fraction: fraction ?? '' };
  const fault = faultOf(parts, minus === '-', integer);
  return fault === undefined ? { value: Number(source) } : { fault };
}

type Parts = { integer: string; fraction: string; sign?: '.' | ',' };

function split(digits: string, decimal: Decimal): Parts | { fault: QuantityFault } {
  if (DIGITS.test(digits)) return { integer: digits, fraction: '' };
  if (decimal === 'auto' && AMBIGUOUS.test(digits)) return { fault: 'ambiguous-number' };
  const grouping = GROUPED.exec(digits)?.[1];
  if (grouping !== undefined && grouping !== decimal) {
    const sign = grouping === '.' ? ',' : grouping === ',' ? '.' : undefined;
    const integer = digits.replace(/\D/g, '');
    return sign === undefined ? { integer, fraction: '' } : { integer, fraction: '', sign };
  }
  return splitAtSign(digits, decimal);
}

function splitAtSign(digits: string, decimal: Decimal): Parts | { fault: QuantityFault } {
  const at = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const sign = digits[at];
  if ((sign !== '.' && sign !== ',') || (decimal !== 'auto' && sign !== decimal))
    return { fault: 'not-a-number' };
  const before = digits.slice(0, at);
  const fraction = digits.slice(at + 1);
  const isGrouped = GROUPED.test(before) && !before.includes(sign);
  if (!DIGITS.test(fraction) || !(before === '' || DIGITS.test(before) || isGrouped))
    return { fault: 'not-a-number' };
  return { integer: before.replace(/\D/g, '') || '0', fraction, sign };
}

function faultOf(
  { integer, fraction }: Parts,
  isNegative: boolean,
  mustBeWhole: boolean,
): QuantityFault | undefined {
  const significant = integer.replace(/^0+/, '');
  const rest = fraction.replace(/0+$/, '');
  if (isNegative || (significant === '' && rest === '')) return 'not-positive';
  if (mustBeWhole && rest !== '') return 'not-whole';
  if (significant.length > KEPT_DIGITS) return 'too-large';
  return significant.length + rest.length > KEPT_DIGITS ? 'too-precise' : undefined;
}

declare global {
  // ECMAScript 2026 "JSON.parse source text access": in Node 24, not yet in TypeScript's library.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A JSON number that a double would change; `JSON.stringify` writes it unchanged. */
export type RawNumber = { readonly rawJSON: string };

/** A JSON number from its source text: a plain number if that gives the same text again. */
export function jsonNumber(source: string): number | RawNumber {
  const value = Number(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** The source text of a value made by `jsonNumber`; undefined for anything else. */
export function sourceOfNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Parses JSON; numbers keep their source text. SyntaxError for what is not JSON. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, asWritten);
}

function asWritten(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined
    ? jsonNumber(context.source)
    : value;
}
