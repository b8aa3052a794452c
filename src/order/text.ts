import { controlCharacterIn, hiddenCharacterIn } from './hidden-characters.ts';
import { LIMITS } from './limits.ts';

/** Printable ASCII without blanks at its ends: true for nearly every cell. */
const PLAIN = /^[!-~](?:[ -~]{0,254}[!-~])?$/;

const BLANK_ENDS = /^[\p{Zs}\t]+|[\p{Zs}\t]+$/gu;

/** A cell's text without the blanks and tabs around it. Line ends stay and are reported. */
export function trimBlanks(text: string): string {
  return PLAIN.test(text) ? text : text.replace(BLANK_ENDS, '');
}

/** What can be wrong with a number or code that is to be sent (docs/contract.md, "What is sent"). */
export type TextFault =
  | 'missing'
  | 'too-long'
  | 'control-character'
  | 'hidden-character'
  | 'replacement-character'
  | 'not-normalized'
  | 'lone-surrogate'
  | 'spreadsheet-damage';

/** A number in scientific notation (`1.23E+15`, `4.5e9`), or one that gained a fraction (`123.0`). */
const NUMERIC_DAMAGE = /^[+-]?(?:\d+E\+\d+|\d*[.,]\d+E[+-]?\d+|\d+[.,]0+)$/i;

/** A value that is kept from such damage by a formula: `="00123"`. */
const FORMULA_TEXT = /^="[^"]*"$/;

/** What spreadsheets show in any language in place of a value that they do not have, or have no room for. */
const ERROR_VALUE =
  /^(?:#[¡¿]?[\p{L}\d/._ ]*[!?]|#\p{L}{1,2}\/\p{L}{1,2}|#(?:NV|YOK|HIÁNYZIK|PUUTTUU|SAKNAS|ZV|GETTING_DATA)|##+|(?:Err|Erreur|Error|Errore|Erro|Fehler|Fout|Fel|Błąd|Chyba|Ошибка) ?: ?\d{3})$/iu;

/** Checks a trimmed order number or article code; undefined when it may be sent. */
export function textFault(text: string): TextFault | undefined {
  if (text === '') return 'missing';
  if (isDamaged(text)) return 'spreadsheet-damage';
  if (PLAIN.test(text)) return undefined;
  if (!text.isWellFormed()) return 'lone-surrogate';
  if (controlCharacterIn(text) !== undefined) return 'control-character';
  if (text.includes('\ufffd')) return 'replacement-character';
  if (hiddenCharacterIn(text) !== undefined) return 'hidden-character';
  if (text.normalize('NFC') !== text) return 'not-normalized';
  return isTooLong(text) ? 'too-long' : undefined;
}

function isDamaged(text: string): boolean {
  if (text.startsWith('#')) return ERROR_VALUE.test(text);
  if (text.startsWith('=')) return FORMULA_TEXT.test(text);
  return /[.,+:]/.test(text) && (NUMERIC_DAMAGE.test(text) || ERROR_VALUE.test(text));
}

function isTooLong(text: string): boolean {
  if (text.length <= LIMITS.textLength) return false;
  return text.length > 2 * LIMITS.textLength || characters(text) > LIMITS.textLength;
}

/** How many characters (code points) a text has. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The text, cut to `length` characters for a report, never within a character. */
export function shorten(text: string, length: number = LIMITS.shownValue): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A column or key name for comparison: without case and spaces. */
export function plainName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
