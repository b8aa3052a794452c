/**
 * Cells that a spreadsheet would run as a formula, after OWASP "CSV Injection": `= + - @`, tab or line end first,
 * also in their full-width forms, behind blanks or behind a quote.
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
 * Whether a cell that came back is what a spreadsheet makes of the original cell: both can be read as the same text,
 * number, date, time or truth value, the original is a formula, or the new text is an error value.
 */
export function isSpreadsheetDamage(original: string, returned: string): boolean {
  if (original === returned) return false;
  if (/^(?:=|[+@-]\D)/.test(original) || /^#.*[!?]$|^#N\/?[ADV]+$|^#+$/.test(returned)) return true;
  const readings = new Set(readingsOf(original));
  return readingsOf(returned).some((reading) => readings.has(reading)) || isShortened(original, returned);
}

/** Everything that a spreadsheet may read in a text. Dates as day and month in both orders, numbers in both notations. */
function readingsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/[\s']/g, '');
  const numbers = [numberIn(plain, '.', ','), numberIn(plain, ',', '.')].filter((number) => number !== undefined);
  const dates = datesIn(plain);
  return [
    `text ${plain}`,
    ...numbers.map((number) => `number ${number.toPrecision(14)}`),
    ...numbers.flatMap((number) => datesOfSerial(number)),
    ...dates,
    ...timesIn(plain),
    ...(TRUTH.get(plain) ?? []),
  ];
}

const TRUTH = new Map<string, readonly string[]>([
  ...['true', 'wahr', 'vrai', 'verdadero', 'vero', 'waar'].map((word) => [word, ['truth yes']] as [string, string[]]),
  ...['false', 'falsch', 'faux', 'falso', 'onwaar'].map((word) => [word, ['truth no']] as [string, string[]]),
]);

/** Sign, currency, thousands, fraction, exponent, percent and parentheses for negative numbers. */
function numberIn(text: string, point: '.' | ',', group: '.' | ','): number | undefined {
  const [, bracket = '', sign = '', body = '', exponent = '', percent = ''] =
    /^(\(?)([+-]?)[€$£¥]?([\d.,]*\d[\d.,]*?)-?(e[+-]?\d+)?[€$£¥]?(%?)\)?$/.exec(text) ?? [];
  if (body === '') return undefined;
  const [whole = '', fraction = '', ...more] = body.split(point);
  if (more.length > 0 || fraction.includes(group)) return undefined;
  const number = Number(`${whole.replaceAll(group, '')}.${fraction}${exponent}`);
  if (!Number.isFinite(number)) return undefined;
  const isNegative = sign === '-' || bracket !== '' || /\d-$/.test(text);
  return (isNegative ? -number : number) / (percent === '' ? 1 : 100);
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const GERMAN: Readonly<Record<string, string>> = { mär: 'mar', mrz: 'mar', mai: 'may', okt: 'oct', dez: 'dec' };

/** A date by day and month: programs add the year. */
function datesIn(text: string): string[] {
  const named = /^(\d{1,4})?[-./]?([a-zä]{3})[a-z]*[-./]?(\d{1,4})?$/.exec(text);
  if (named) {
    const [, before, name = '', after] = named;
    const month = MONTHS.indexOf(GERMAN[name] ?? name) + 1;
    return month === 0
      ? []
      : [before, after].flatMap((day) => (day === undefined ? [] : [`date ${month} ${Number(day)}`]));
  }
  const parts =
    /^(\d{1,4})[-./](\d{1,2})(?:[-./](\d{0,4}))?$/
      .exec(text)
      ?.slice(1)
      .map((part) => Number(part)) ?? [];
  const [first = 0, second = 0, third = 0] = parts;
  if (first > 31) return [`date ${second} ${third}`];
  return parts.length === 0 ? [] : [`date ${first} ${second}`, `date ${second} ${first}`];
}

/** A number as the date that a spreadsheet counts from 1900. */
function datesOfSerial(number: number): string[] {
  if (!Number.isInteger(number) || number < 20_000 || number > 80_000) return [];
  const date = new Date(Date.UTC(1899, 11, 30 + number));
  return [`date ${date.getUTCMonth() + 1} ${date.getUTCDate()}`];
}

function timesIn(text: string): string[] {
  const [, hours, minutes, seconds = '0'] = /^(\d{1,3}):(\d{2})(?::(\d{2}))?(?:am|pm)?$/.exec(text) ?? [];
  return hours === undefined ? [] : [`time ${Number(hours) % 12} ${Number(minutes)} ${Number(seconds)}`];
}

/** Scientific notation with few digits, or digits that end in zeros after the fifteenth. */
function isShortened(original: string, returned: string): boolean {
  const long = numberIn(original.replace(/\s/g, ''), '.', ',');
  const short = numberIn(returned.toLowerCase().replace(/\s/g, '').replace(',', '.'), '.', ',');
  if (long === undefined || short === undefined || long === 0) return false;
  const isScientific = /\de[+-]?\d/i.test(returned) || /\d{15}0+$/.test(returned);
  return isScientific && Math.abs(long - short) <= Math.abs(long) * 0.005;
}
