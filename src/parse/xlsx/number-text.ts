import type { CellKind } from '../record.ts';

/** The first formats without a code in the file (ECMA-376 part 1, 18.8.30), and those of dates and times. */
const BUILT_IN = ['General', '0', '0.00', '#,##0', '#,##0.00'];
const DATES = [14, 22, 27, 36, 45, 47, 50, 58];

/** The code of a number format by its id; `?` for others without one, which are no plain numbers. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): string {
  const isDate = DATES.some((last, at) => at % 2 === 1 && id <= last && id >= (DATES[at - 1] ?? 0));
  return codes.get(id) ?? (isDate ? 'yyyy-mm-dd' : id === 49 ? '@' : (BUILT_IN[id] ?? UNKNOWN));
}

/** The format of a style that the workbook lacks. */
export const UNKNOWN = '?';

/** What a cell with a stored number is, as text and as kind. */
export function numberCell(
  raw: string,
  format: string,
  is1904: boolean,
): { text: string; kind: CellKind } {
  const number = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(number)) return { text: raw, kind: { kind: 'error' } };
  const date = isDateFormat(format) ? dateOf(number, is1904) : undefined;
  if (date !== undefined) return { text: date, kind: { kind: 'date', date } };
  return { text: numberText(number), kind: { kind: 'number', format } };
}

/** Whether a number format shows a date or a time: it has such a letter besides literals, colors and locales. */
export function isDateFormat(code: string): boolean {
  const symbols = code
    .replace(/"[^"]*"?|\\.|[_*]./g, '')
    .replace(/\[(?!(?:h+|m+|s+)\])[^\]]*\]?/gi, '');
  return /[dmyhs]/i.test(symbols.replace(/General/gi, ''));
}

/** The last day of the year 9999. */
const LAST_DAY = 2_958_466;

/** A date to the second: `2026-11-21` or `2026-11-21T07:15:00`; undefined where there is none. */
function dateOf(serial: number, is1904: boolean): string | undefined {
  const days = is1904 ? serial + 1462 : serial;
  if (days < 0 || days >= LAST_DAY) return undefined;
  // Spreadsheets count a 29 February 1900 as day 60.
  const first = days < 60 ? Date.UTC(1899, 11, 31) : Date.UTC(1899, 11, 30);
  const text = new Date(first + Math.round(days * 86_400) * 1000).toISOString().slice(0, 19);
  return days % 1 === 0 ? text.slice(0, -9) : text;
}

/** The shortest decimal form of a double, without an exponent below 1e15. */
export function numberText(number: number): string {
  if (Math.abs(number) >= 1e15) return number.toExponential().toUpperCase();
  const text = String(number);
  const [, sign = '', first = '', rest = '', power] =
    /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  return power === undefined ? text : `${sign}0.${'0'.repeat(Number(power) - 1)}${first}${rest}`;
}
