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
