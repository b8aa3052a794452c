import type { CellKind } from '../record.ts';

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

/** The code of a number format by its id. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): string {
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'yyyy-mm-dd';
  return codes.get(id) ?? BUILT_IN.get(id) ?? 'General';
}

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
