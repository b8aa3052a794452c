import { controlCharacterIn } from './hidden-characters.ts';
import { LIMITS } from './limits.ts';

/** Already as it should be: printable ASCII without blanks at its ends. Decides nearly every cell at once. */
const PLAIN = /^[!-~](?:[ -~]{0,254}[!-~])?$/;

const BLANK_ENDS = /^\p{Zs}+|\p{Zs}+$/gu;

/** A cell's text without the blanks around it. Line ends and tabs are no blanks: they stay and are told. */
export function trimBlanks(text: string): string {
  return PLAIN.test(text) ? text : text.replace(BLANK_ENDS, '');
}

/** What is wrong with a number or code that is to be sent (product.md, "What is sent"). */
export type TextFault = 'missing' | 'too-long' | 'control-character' | 'lone-surrogate' | 'spreadsheet-damage';

/** A long number as spreadsheets destroy it (`1.23E+15`), or one kept from that by a formula (`="00123"`). */
const DAMAGED = /^(?:\d(?:[.,]\d+)?E\+\d{2,}|="[^"]*")$/i;

/** What spreadsheets show in place of a value that they do not have, in English and German, or have no room for. */
const ERROR_VALUE = /^#(?:N\/A|NV|VALUE!|WERT!|REF!|BEZUG!|NAME\?|DIV\/0!|NUM!|ZAHL!|NULL!|SPILL!|CALC!|#+)$/i;

/** Checks a trimmed order number or article code; undefined when it may be sent. */
export function textFault(text: string): TextFault | undefined {
  if (text === '') return 'missing';
  if (isDamaged(text)) return 'spreadsheet-damage';
  if (PLAIN.test(text)) return undefined;
  if (!text.isWellFormed()) return 'lone-surrogate';
  if (controlCharacterIn(text) !== undefined) return 'control-character';
  return isTooLong(text) ? 'too-long' : undefined;
}

function isDamaged(text: string): boolean {
  if (text.startsWith('#')) return ERROR_VALUE.test(text);
  return (text.startsWith('=') || text.includes('+')) && DAMAGED.test(text);
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

/** The text cut to what a report shows, never within a character. */
export function shorten(text: string, length: number = LIMITS.shownValue): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A column's or key's name as it is compared: case and spacing do not count. */
export function plainName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
