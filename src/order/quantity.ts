import { plainLook } from './look-alike.ts';
import { escapeHidden, shorten } from './text.ts';

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

const UNITS = /^(?:x ?)?(\d+(?:[.,'’ \u00a0\u202f\u2009]\d+)*) ?(?:\p{L}[\p{L}.]{0,9}|[€$£¥])$/iu;

/** Units of several pieces: `1 dozen` is not 1. */
const DOZENS = /^(\d{1,9}) ?(?:dz|dzn|doz|dozens?|dutzend|dtzd|douzaines?|docenas?)\.?$/i;
const MULTIPLES =
  /(?<!\p{L})(?:gross|gros|gro|grs|hundreds?|hundert|mil|thousands?|tausend|tsd|k|pairs?|paar)\.?$/iu;

/** What a text that is no quantity may mean, in words; undefined when nothing is likely. */
export function likelyQuantity(text: string): string | undefined {
  const plain = plainLook(text)
    .replace(/[\p{Cf}\p{Cc}]/gu, '')
    .replace(/\u2212|^[\u2010-\u2013]/gu, '-')
    .trim();
  if (plain !== text && 'value' in readQuantity(plain, 'auto', false)) return plain;
  if (/^-\d+$/.test(plain)) return `${plain}, which is below zero`;
  const negative = /^\((\d+)\)$/.exec(plain)?.[1];
  if (negative !== undefined) return `-${negative}, or ${negative} without the brackets`;
  const percent = /^(\d+) ?%$/.exec(plain)?.[1];
  if (percent !== undefined) return `${percent}, or ${Number(percent) / 100}`;
  const scientific = /^(\d+)(?:[.,](\d+))?E\+?(\d{1,2})$/i.exec(plain);
  if (scientific) return `${Number(plain.replace(',', '.'))}, rounded by a spreadsheet, or a code`;
  if (/^\d{1,2}(?:,\d{2})+,\d{3}$/.test(plain)) return plain.replaceAll(',', '');
  const digits = plain.replace(/[Oo]/g, '0').replace(/[lI]/g, '1');
  if (/\d/.test(plain) && /^[1-9]\d*$/.test(digits))
    return `${digits}, with letters in place of digits`;
  const dozens = DOZENS.exec(plain)?.[1];
  if (dozens !== undefined) return `${Number(dozens) * 12}`;
  const marked =
    /^['`´’](\d+)$/.exec(plain)?.[1] ??
    (MULTIPLES.test(plain) ? undefined : UNITS.exec(plain)?.[1]);
  return marked === undefined ? undefined : `${marked}, with a unit or a sign beside it`;
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

/** What a whole number likely is if it is no quantity: a day (`20261122`, `22112026`), or a GTIN by its check digit. */
export function likelyCode(value: number): 'a date' | 'an article number (GTIN)' | undefined {
  const digits = String(value);
  if (digits.length === 8 && DAY.test(digits)) return 'a date';
  return /^\d{12,14}$/.test(digits) && hasCheckDigit(digits)
    ? 'an article number (GTIN)'
    : undefined;
}

/** Smaller quantities are not checked. */
export const LEAST_CODE = 1_000_000;

const DAY =
  /^(?:(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])20\d\d)$/;

function hasCheckDigit(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}

/** Whether a JSON value looks like a quantity: `2`, `1.5`, `"1,5"`, `"3 pcs"`. */
export function isAmount(value: unknown): boolean {
  const text = typeof value === 'string' ? value.trim() : sourceOfNumber(value);
  return text !== undefined && /^[+-]?\d[\d.,' ]*(?:\p{L}{1,5}\.?)?$/u.test(text);
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

/** `1,000` is 1000 or 1; `1.250` is 1250 or 1.25; 1.2 of a worksheet is 1200 or 1.2. Few quantities may have a fraction. */
export function bothReadings(value: string): string {
  const [, before = '', after = ''] = /^[+-]?(\d+)[.,](\d+)/.exec(value) ?? [];
  const fraction = after.replace(/0+$/, '');
  const thousands = `${before}${after.slice(0, 3).padEnd(3, '0')}`;
  return `enter ${thousands} or${fraction === '' ? '' : ', if fractions are allowed,'} ${before}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The settings that decide how an ambiguous quantity is read. A cell of a worksheet may have other digits behind the separator. */
export function decimalHint(value: string): string {
  const [, before, separator, after] = /^[+-]?(\d+)([.,])(\d{3})$/.exec(value) ?? [];
  if (separator === undefined) return 'check decimal in the mapping of the source';
  const fraction = String(after).replace(/0+$/, '');
  return `with decimal: "${separator === '.' ? ',' : '.'}" in the mapping of the source, it is ${before}${after}; with decimal: "${separator}", it is ${before}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A date in the form of its cell, such as `2026-03-05`, `05.03.2026` or `5-Mar`, where a workbook has one. */
const MADE_DATE =
  /^="(?:\d{1,4}([-./]) ?\d{1,2}\1 ?\d{0,4}|\d{1,2}[-. ]{1,2}\p{L}{3,9}\.?)[^"]*"$/u;

/** What is wrong with a quantity that is no number, with the readings of what people and programs write in place of one. */
export function notANumberSentence(value: string, shown: string): string {
  const [escaped, likely] = [escapeHidden(shown), likelyQuantity(value)];
  if (/^\{.*\}$/s.test(value))
    return `${escapeHidden(shorten(value, 60))} contains several values; enter the number alone. For your operator: name one of them in the mapping, such as name.inner`;
  if (/^\[.*\]$/s.test(value))
    return `${escapeHidden(shorten(value, 60))} is a list; enter one number`;
  if (MADE_DATE.test(value))
    return `${escaped} is a date, which the spreadsheet made of what was entered; format the cell as a number and enter the quantity again`;
  if (likely === undefined)
    return `${escaped} is not a number; enter ${/^\d+[.,]\d+$/.test(value.trim()) ? 'it with the decimal sign of the other values. For your operator: decimal in the mapping of the source sets that sign; decimal: auto reads both' : 'digits only, such as 12'}`;
  return `${escaped} is not a plain number; it may mean ${likely}; enter digits only`;
}
