import { format, isDateFormat } from 'numfmt';

/**
 * Why a number or an article cannot be read from a cell that contains a number. `fraction`: its digits after the decimal
 * sign may be cut; `digits`: it has more than its format or a spreadsheet keeps; `date`; `locale`: it looks different in
 * each country; `hidden`: it is not shown at all; `format`: its format cannot be applied; `struck`: it is struck through;
 * `scaled`: its cell shows another number, such as 500 % for 5. `labeled`: the same, but the shown text is certain, such
 * as 1200 for 12: that is an article, and no quantity.
 */
export type NumberFault =
  | 'fraction'
  | 'digits'
  | 'date'
  | 'locale'
  | 'hidden'
  | 'format'
  | 'struck'
  | 'scaled'
  | 'labeled';

/** A number as its cell shows it. `plain` is the number in digits; `fault`: the shown text is not certain. */
export type ShownNumber = { shown: string; plain: string; fault?: NumberFault };

/** Formats without a code in the file (ECMA-376 part 1, 18.8.30); 27 to 36 and 50 to 58 are dates. */
const BUILT_IN: ReadonlyMap<number, string> = new Map(
  [
    [1, '0', '0.00', '#,##0', '#,##0.00'],
    [9, '0%', '0.00%', '0.00E+00', '# ?/?', '# ??/??', 'mm-dd-yy', 'd-mmm-yy', 'd-mmm', 'mmm-yy'],
    [18, 'h:mm AM/PM', 'h:mm:ss AM/PM', 'h:mm', 'h:mm:ss', 'm/d/yy h:mm'],
    [
      37,
      '#,##0 ;(#,##0)',
      '#,##0 ;[Red](#,##0)',
      '#,##0.00;(#,##0.00)',
      '#,##0.00;[Red](#,##0.00)',
    ],
    [45, 'mm:ss', '[h]:mm:ss', 'mm:ss.0', '##0.0E+0', '@'],
  ].flatMap(([first, ...codes]) =>
    codes.map((code, i): [number, string] => [Number(first) + i, String(code)]),
  ),
);

const GENERAL = 'General';
const KEPT_DIGITS = 15;
const LITERALS = /"[^"]*"|\\.|[_*]./g;

/** The code of a number format by its id. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): string {
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'yyyy-mm-dd';
  return codes.get(id) ?? BUILT_IN.get(id) ?? GENERAL;
}

/** Renders the numbers of a workbook's cells; the same few again and again. */
export function createNumberShow(is1904: boolean): (raw: string, code: string) => ShownNumber {
  const known = new Map<string, ShownNumber>();
  return (raw, code) => {
    if (code === GENERAL && /^\d{1,15}$/.test(raw)) return { shown: raw, plain: raw };
    const key = `${code}\n${raw}`;
    const before = known.get(key);
    if (before) return before;
    const shown = showNumber(raw, code, is1904);
    if (known.size < 10_000) known.set(key, shown);
    return shown;
  };
}

function showNumber(raw: string, code: string, is1904: boolean): ShownNumber {
  const number = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(number))
    return { shown: raw, plain: raw, fault: 'format' };
  const plain = plainNumber(number);
  try {
    if (isDateFormat(code)) return { shown: dateText(number, is1904), plain, fault: 'date' };
    if (/^General$|^@$/i.test(code)) return { shown: plain, plain, ...faultOf(number) };
    const shown = format(withoutLocale(code), number).trim();
    const found = faultIn(code, shown) ?? faultOf(number);
    if (shown === '' || showsNumber(shown, number))
      return { shown, plain, ...(found ?? labelIn(shown)) };
    return { shown, plain, fault: found === undefined ? 'labeled' : 'scaled' };
  } catch {
    return { shown: plain, plain, fault: 'format' };
  }
}

/** `#,##0` of `[$-407]#,##0`: in which country a number looks how is no part of its value. */
function withoutLocale(code: string): string {
  return code.replace(/\[\$([^\]-]*)-[^\]]*\]/g, (_, symbol: string) =>
    symbol === '' ? '' : `[$${symbol}]`,
  );
}

const NUMBERS = /\d[\d,]*(?:\.\d+)?(?:E[+-]?\d+)?%?/g;
/** Labels that change what a number counts. */
const MULTIPLE =
  /(?<!\p{L})(?:dozen|doz|dz|dtzd|dutzend|gross|pairs?|paar|hundred|thousand|tsd|mio|k)(?!\p{L})/iu;

/** Numbers that are not part of a unit, such as `m2`. */
const OWN_NUMBERS = /(?<![\p{L}\d.,])\d[\d,.]*/gu;

/** A label beside a number that makes another one of it: `5 dozen`, `5 x 10`. */
function labelIn(shown: string): { fault: NumberFault } | undefined {
  const isOther = (shown.match(OWN_NUMBERS) ?? []).length > 1 || MULTIPLE.test(shown);
  return isOther ? { fault: 'labeled' } : undefined;
}

/** Whether a format shows texts otherwise than they are, by its code. */
const changesTexts = new Map<string, boolean>();

/** A text as its cell shows it: `A-7` for `7` with the format `"A-"@`, nothing with `;;;`. */
export function showText(text: string, code: string): string {
  if (code === GENERAL || code === '@') return text;
  const isChanged = changesTexts.get(code) ?? changesText(code);
  changesTexts.set(code, isChanged);
  return isChanged ? format(code, text).trim() : text;
}

function changesText(code: string): boolean {
  try {
    return format(code, 'x').trim() !== 'x';
  } catch {
    return false;
  }
}

/** Whether a number of a shown text is this one, rounded to the digits that are shown. */
function showsNumber(shown: string, number: number): boolean {
  return (shown.match(NUMBERS) ?? []).some((token) => {
    const [digits = '', power = '0'] = token.replaceAll(',', '').split('E');
    const places = (digits.split('.')[1] ?? '').length - Number(power);
    const isClose =
      Math.abs(Number(digits) * 10 ** Number(power) - Math.abs(number)) <= 0.500001 * 10 ** -places;
    return !token.endsWith('%') && isClose;
  });
}

/** `1.1` for 1.1000000000000001, `1.23E+18` beyond the digits that a spreadsheet keeps. */
function plainNumber(number: number): string {
  const rounded = Number(number.toPrecision(KEPT_DIGITS));
  return Math.abs(rounded) < 10 ** KEPT_DIGITS
    ? String(rounded)
    : rounded.toExponential().toUpperCase();
}

function faultOf(number: number): { fault: NumberFault } | undefined {
  if (!Number.isInteger(number)) return { fault: 'fraction' };
  return Math.abs(number) >= 10 ** KEPT_DIGITS ? { fault: 'digits' } : undefined;
}

function faultIn(code: string, shown: string): { fault: NumberFault } | undefined {
  if (shown === '') return { fault: 'hidden' };
  const symbols = code.replace(LITERALS, '').replace(/\[[^\]]*\]/g, '');
  if (/General/i.test(symbols)) return { fault: 'digits' };
  return /[.,%]/.test(symbols) ? { fault: 'locale' } : undefined;
}

/** A date to the second: `2026-11-21` or `2026-11-21T07:15:00`. */
function dateText(number: number, is1904: boolean): string {
  const serial = is1904 ? number + 1462 : number;
  return format(Number.isInteger(serial) ? 'yyyy-mm-dd' : 'yyyy-mm-dd"T"hh:mm:ss', serial);
}
