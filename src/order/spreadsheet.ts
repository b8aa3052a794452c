/**
 * Cells that a spreadsheet would run as a formula, after OWASP "CSV Injection": `= + - @`, tab or line end first, also
 * in their full-width forms, behind spaces or behind a quote.
 */
const FORMULA = /^(?:[\t\r\n\0]|[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** `-5`, `+5,00`, `-1.234,50`, `-3e4`: signed numbers with separators between digits only. No program runs them. */
const PLAIN_NUMBER = /^[+-](?:\d+(?:[.,' ]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?$/;

/** `escapeFormula` writes an apostrophe before a formula. A text that already has some gets one more. */
const APOSTROPHES = /^'+/;

/** Puts one apostrophe before a text that a spreadsheet would run; leaves every other text unchanged. */
export function escapeFormula(text: string): string {
  return runs(text.replace(APOSTROPHES, '')) ? `'${text}` : text;
}

/** Undoes `escapeFormula`: `restore(escapeFormula(text))` is always `text`. */
export function restore(text: string): string {
  return text.startsWith("'") && runs(text.replace(APOSTROPHES, '')) ? text.slice(1) : text;
}

function runs(text: string): boolean {
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text);
}

/**
 * Whether a cell that came back is one rendering of the original cell by a spreadsheet: the same number, date, time or
 * boolean in the form that a spreadsheet gives it, the same text without outer spaces, or an error value. Everything
 * else is a person's correction, or `isUnsureDamage`.
 */
export function isSpreadsheetDamage(original: string, returned: string): boolean {
  if (original === returned) return false;
  if (/^#.*[!?]$|^#N\/?[ADV]+$|^#+$/.test(returned)) return true;
  const [was, now] = [original.trim(), returned.trim()];
  if (was.replace(/^'/, '') === now || isSameTruth(was, now) || isSameTime(was, now)) return true;
  return isSameNumber(was, now, '.') || isSameNumber(was, now, ',') || isSameDate(was, now);
}

/**
 * Whether a cell that came back can be a correction or what some program makes of the original: a formula became a
 * number, a decimal sign was dropped (`2.00`, `200`), or a long number lost its last digits.
 */
export function isUnsureDamage(original: string, returned: string): boolean {
  const [was, now] = [original.trim(), returned.trim()];
  if (was === now || isSpreadsheetDamage(original, returned) || !/^-?\d[\d.,]*$/.test(now))
    return false;
  if (/^(?:=|[+@-]\D)/.test(was)) return true;
  if (/^\d{16,}$/.test(was))
    return was.length === now.length && now.startsWith(was.slice(0, 15)) && now.endsWith('0');
  return /^[+-]?\d+[.,]\d+$/.test(was) && was.replace(/[+.,]/g, '') === now;
}

/** Whether a text that came back has other letters beyond ASCII in the same places, or `?` in place of them. */
export function isOtherLetters(original: string, returned: string): boolean {
  const rest = original.split(BEYOND_ASCII);
  if (original === returned || rest.length === 1) return false;
  const lost = returned.split(BEYOND_ASCII.test(returned) ? BEYOND_ASCII : /\?+/);
  return lost.length === rest.length && lost.every((part, index) => part === rest[index]);
}

const BEYOND_ASCII = /[^\0-\x7f]+/;

/** Whether a text has a form that spreadsheets give to values: a number, a date, a time or a boolean. */
export function isSpreadsheetForm(text: string): boolean {
  const plain = text.trim();
  const isNumber = decimalIn(plain, '.') !== undefined || decimalIn(plain, ',') !== undefined;
  const isDay = daysIn(plain, 'day-month').length > 0 || daysIn(plain, 'month-day').length > 0;
  return (
    isNumber ||
    isDay ||
    timeIn(plain) !== undefined ||
    TRUTH.some((words) => words.includes(plain.toLowerCase()))
  );
}

const TRUTH = [
  ['true', 'wahr', 'vrai', 'verdadero', 'vero', 'waar'],
  ['false', 'falsch', 'faux', 'falso', 'onwaar'],
];

function isSameTruth(was: string, now: string): boolean {
  return TRUTH.some(
    (words) => words.includes(was.toLowerCase()) && words.includes(now.toLowerCase()),
  );
}

function isSameTime(was: string, now: string): boolean {
  const time = timeIn(was);
  return time !== undefined && time === timeIn(now);
}

/** Seconds since midnight. */
function timeIn(text: string): number | undefined {
  const [, hours, minutes, seconds = '0', half] =
    /^(\d{1,3}):(\d{2})(?::(\d{2}))?(?:\s?([ap])m)?$/i.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const hour =
    half === undefined
      ? Number(hours)
      : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return (hour * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** A number without zeros on either side: the digits, times ten to the power of `exponent`. */
type Decimal = { sign: string; digits: string; exponent: number };

/** With one meaning of the decimal sign. A spreadsheet adds no leading zeros, and no separators to digits alone. */
function isSameNumber(was: string, now: string, point: '.' | ','): boolean {
  const isScientific = /\de[+-]?\d/i.test(now);
  if (/^-?0\d/.test(now) || (/^\d+$/.test(was) && !isScientific && !/^\d+$/.test(now)))
    return false;
  const [before, after] = [
    decimalIn(was, point),
    decimalIn(now, point) ?? (isScientific ? decimalIn(now, '.') : undefined),
  ];
  if (before === undefined || after === undefined || before.sign !== after.sign) return false;
  const kept = isScientific ? (/^[^e]*/i.exec(now)?.[0] ?? '').replace(/\D/g, '').length : 15;
  return [before, ...shortened(before, kept)].some(
    ({ digits, exponent }) => digits === after.digits && exponent === after.exponent,
  );
}

/** A number with its first digits only, cut and rounded. */
function shortened({ sign, digits, exponent }: Decimal, kept: number): Decimal[] {
  if (kept < 1 || digits.length <= kept) return [];
  const cut = BigInt(digits.slice(0, kept));
  const rounded = Number(digits[kept]) >= 5 ? cut + 1n : cut;
  return [cut, rounded].map((part) => trimmed(sign, String(part), exponent + digits.length - kept));
}

function trimmed(sign: string, digits: string, exponent: number): Decimal {
  const start = digits.replace(/^0+/, '');
  const short = start.replace(/0+$/, '');
  return short === ''
    ? { sign: '', digits: '', exponent: 0 }
    : { sign, digits: short, exponent: exponent + start.length - short.length };
}

/** Sign, currency, groups of three digits, fraction, exponent, percent and parentheses for negative numbers. */
function decimalIn(text: string, point: '.' | ','): Decimal | undefined {
  const [, bracket = '', sign = '', body = '', minus = '', power = '0', percent = ''] =
    /^(\(?)([+-]?)[€$£¥]?\s?(\d[\d.,'\s]*|[.,]\d+)(-?)(?:e([+-]?\d{1,4}))?\s?[€$£¥]?(%?)\)?$/i.exec(
      text,
    ) ?? [];
  const [whole = '', fraction = '', ...more] = body.trim().split(point);
  const isGrouped = /^\d{1,3}(?:([.,'\s])\d{3})(?:\1\d{3})*$/.test(whole);
  if (
    body === '' ||
    more.length > 0 ||
    !(isGrouped || /^\d*$/.test(whole)) ||
    !/^\d*$/.test(fraction)
  )
    return undefined;
  const isNegative = sign === '-' || bracket !== '' || minus !== '';
  const exponent = Number(power) - fraction.length - (percent === '' ? 0 : 2);
  return trimmed(isNegative ? '-' : '', whole.replace(/\D/g, '') + fraction, exponent);
}

type Day = { year?: number; month: number; day: number };
type DateOrder = 'day-month' | 'month-day';

/** Day and month in one order, and the year if the original has one. A program adds a year, or names the month. */
function isSameDate(was: string, now: string): boolean {
  if (/^\d{1,4}[-./]\d{1,4}$/.test(now) || /^[^a-z]*\p{Lu}{2}/u.test(now)) return false;
  return (['day-month', 'month-day'] as const).some((order) => {
    const returned = [...daysIn(now, order), ...dayOfSerial(now)];
    return daysIn(was, order).some((one) => returned.some((other) => isSameDay(one, other)));
  });
}

function isSameDay(was: Day, now: Day): boolean {
  if (was.month !== now.month || was.day !== now.day) return false;
  if (was.year === undefined) return true;
  return (
    now.year !== undefined &&
    (was.year === now.year ||
      (Math.min(was.year, now.year) < 100 && (was.year - now.year) % 100 === 0))
  );
}

/** Every date that a spreadsheet can read in a text, with its parts in this order. */
function daysIn(text: string, order: DateOrder): Day[] {
  return [...namedDays(text), ...numericDays(text, order)].filter(
    ({ month, day }) => month >= 1 && month <= 12 && day >= 1 && day <= 31,
  );
}

const MONTHS = [
  'jan january januar janv janvier',
  'feb february februar févr février',
  'mar march mär mrz märz mars',
  'apr april avr avril',
  'may mai',
  'jun june juni juin',
  'jul july juli juil juillet',
  'aug august août',
  'sep sept september septembre',
  'oct october okt oktober octobre',
  'nov november novembre',
  'dec december dez dezember déc décembre',
].map((names) => names.split(' '));

/** `1-Mar`, `Mar 1`, `1. März 2026`; one number can also be the year. */
function namedDays(text: string): Day[] {
  const [, before, name = '', after, last] =
    /^(\d{1,4})?[-./\s]*(\p{L}{3,9})[-./\s]*(\d{1,4})?(?:[-./,\s]+(\d{2,4}))?$/u.exec(text) ?? [];
  const month = MONTHS.findIndex((names) => names.includes(name.toLowerCase())) + 1;
  const numbers = [before, after, last].filter((part) => part !== undefined).map(Number);
  const [first, second] = numbers;
  if (month === 0 || first === undefined || numbers.length > 2) return [];
  if (second !== undefined) return [{ day: first, month, year: second }];
  return [
    { day: first, month },
    { day: 1, month, year: first },
  ];
}

/** `1-2`, `1.2.2026`, `2026-02-01`, and `2026-02` for its first day. */
function numericDays(text: string, order: DateOrder): Day[] {
  const [, year, month, day = '1'] = /^(\d{4})[-./](\d{1,2})(?:[-./](\d{1,2}))?$/.exec(text) ?? [];
  if (year !== undefined) return [{ year: Number(year), month: Number(month), day: Number(day) }];
  const [, first, second, last] =
    /^(\d{1,2})[-./](\d{1,2})(?:[-./](\d{4}|\d{2})?)?$/.exec(text) ?? [];
  const [dayPart, monthPart] = order === 'day-month' ? [first, second] : [second, first];
  if (first === undefined) return [];
  return [
    {
      day: Number(dayPart),
      month: Number(monthPart),
      ...(last !== undefined && { year: Number(last) }),
    },
  ];
}

/** A number as the date that a spreadsheet counts from 1900. */
function dayOfSerial(text: string): Day[] {
  if (!/^[2-7]\d{4}$/.test(text)) return [];
  const date = new Date(Date.UTC(1899, 11, 30 + Number(text)));
  return [{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }];
}

/** Whether a column was sorted without the others: most of its values that changed are those of other changed rows. */
export function isMoved(was: readonly string[], now: readonly string[]): boolean {
  const left = new Map<string, number>();
  for (const value of was) left.set(value, (left.get(value) ?? 0) + 1);
  let count = 0;
  for (const value of now) {
    const more = left.get(value) ?? 0;
    if (more === 0 || value === '') continue;
    left.set(value, more - 1);
    count += 1;
  }
  return count >= 2 && count >= was.length / 2;
}
