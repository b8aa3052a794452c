import { LIMITS } from './limits.ts';

/** Printable ASCII without spaces at its ends: true for nearly every cell. */
const PLAIN = /^[!-~](?:[ -~]{0,254}[!-~])?$/;

/** Letters, digits and what commonly separates them: nothing that a spreadsheet makes of a value. */
const SIMPLE = /^[A-Za-z0-9](?:[A-Za-z0-9 _/-]{0,254}[A-Za-z0-9])?$/;

const BLANK_ENDS = /^[\p{Zs}\t]+|[\p{Zs}\t]+$/gu;

/** A cell's text without the spaces and tabs around it. Line ends stay and are reported. */
export function trimBlanks(text: string): string {
  return isInk(text.charCodeAt(0)) && isInk(text.charCodeAt(text.length - 1))
    ? text
    : text.replace(BLANK_ENDS, '');
}

/** Printable ASCII other than the space: the ends of nearly every cell, found without a pattern. */
function isInk(code: number): boolean {
  return code > 32 && code < 127;
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

/** What spreadsheets show, in any language, for a value that is missing or does not fit the cell. */
const ERROR_VALUE =
  /^(?:#[¡¿]?[\p{L}\d/._ ]*[!?]|#\p{L}{1,2}\/\p{L}{1,2}|#(?:NV|YOK|HIÁNYZIK|PUUTTUU|SAKNAS|ZV|GETTING_DATA)|##+|(?:Err|Erreur|Error|Errore|Erro|Fehler|Fout|Fel|Błąd|Chyba|Ошибка) ?: ?\d{3})$/iu;

/** What programs write for a value that is missing; no such text is longer. */
const NOTHING =
  /^(?:null|nil|none|nothing|nan|nat|n\/a|n\.a\.|k\.a\.|undefined|unknown|unbekannt|inconnu|empty|tbd|tba|tbc|\\n|\((?:null|none|blank|leer|vide|vuoto)\)|<null>|\[null\]|x{3,}|[-–—?._…]+)$/i;
const LONGEST_NOTHING = 9;

/** Whether a text stands for no value: `NULL`, `N/A`, `-`, `tbd`, `(blank)` of a pivot table, `00000` of a database. */
export function isNothing(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  if (last >= 48 && last < 58) return last === 48 && text.charCodeAt(0) === 48 && /^0+$/.test(text);
  return text.length <= LONGEST_NOTHING && NOTHING.test(text);
}

/** Checks a trimmed order number or article code; undefined when it may be sent. */
export function textFault(text: string): TextFault | undefined {
  if (isNothing(text)) return 'spreadsheet-damage';
  if (SIMPLE.test(text)) return undefined;
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

/** A column or key name for comparison: without case, spaces and characters that nobody sees. */
export function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Cf}]+/gu, '');
}

/** A text for comparison with words: without case and accents, in any Unicode form, with umlauts as one letter or as two: `GELÖSCHT`, `Geloescht`. */
export function plainText(text: string, umlaut: '' | 'e'): string {
  return text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[äöü]/g, (one) => `${one.normalize('NFD')[0]}${umlaut}`)
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/\p{M}/gu, '');
}

/** One step of a JSON pointer (RFC 6901). Few keys have a character to escape. */
export function pointerStep(key: string | number): string {
  if (typeof key === 'number' || !/[~/]/.test(key)) return `/${key}`;
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Cc: control characters, line ends and tabs included. */
const CONTROL = /\p{Cc}/u;

/** Text without control characters, as a pattern for schemas. */
export const WITHOUT_CONTROLS = /^\P{Cc}*$/u;

/**
 * Characters that a reader cannot see or distinguish from a plain space, or that change the text around them: control,
 * format (bidirectional marks, zero width), lone surrogate and private-use characters, line separators, and every space
 * but the plain and the ideographic one.
 */
const HIDDEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]--[ \u3000]]/gv;

/** The same without the plain line feed, for JSON documents: they are laid out with it. */
const HIDDEN_IN_JSON = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]--[ \n\u3000]]/gv;

/** Hidden characters and line ends, one or several in a row. */
const HIDDEN_RUN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** What must not be in a number or a code: format, private, unassigned and ignorable characters, and separators. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}]/u;
const NOT_SEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Z}\p{DI}\ufffd]/gu;

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The first control character of a text as `U+001B`; undefined when it has none. */
export function controlCharacterIn(text: string): string | undefined {
  return codePointOf(CONTROL.exec(text)?.[0]);
}

/** The first character beyond control characters that nobody sees, as `U+200B`; undefined when there is none. */
export function hiddenCharacterIn(text: string): string | undefined {
  return codePointOf(INVISIBLE.exec(text)?.[0]);
}

function codePointOf(character: string | undefined): string | undefined {
  const point = character?.codePointAt(0);
  return point === undefined ? undefined : `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** What a person sees of a text: without hidden characters and spaces, in one form of each letter. */
export function visibleText(text: string): string {
  return text.replace(NOT_SEEN, '').normalize('NFC');
}

/**
 * Replaces every hidden character by its JSON escape (`\n`, `\u202e`), so that a text from a file or a server can
 * neither control a terminal, forge a log line, nor look like another text.
 */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, (found) => SHORT[found] ?? escapeUnits(found));
}

/** `escapeHidden` for a JSON document: it keeps its layout and parses to the same value. */
export function escapeHiddenInJson(json: string): string {
  return json.replace(HIDDEN_IN_JSON, escapeUnits);
}

/** The text on one line: hidden characters become single spaces. For places that a person reads and no program. */
export function onOneLine(text: string): string {
  return text.replace(HIDDEN_RUN, ' ').trim();
}

/** One escape for each UTF-16 unit, as JSON writes them. */
function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** The words that follow a command with an argument. One that begins with `-` is not read as an option after `--`. */
export function commandWords(argument: string, ...options: readonly string[]): string[] {
  return argument.startsWith('-') ? [...options, '--', argument] : [argument, ...options];
}

/** The same as a person types them. */
export function shellWords(argument: string, ...options: readonly string[]): string {
  return commandWords(argument, ...options)
    .map(shellWord)
    .join(' ');
}

/** A word of a command, quoted for a shell where it needs that: numbers of orders come from files. */
export function shellWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The first five of several texts, such as the articles or items of an order as read. */
export function firstOf(texts: readonly string[] = []): string {
  const first = texts.slice(0, 5).map((text) => shorten(text, 63));
  return [...first, ...(texts.length > 5 ? ['…'] : [])].join(', ');
}

/** A value as its cell shows it: one that a workbook does not show exactly is kept as a formula text. */
export function asShown(value: string): string {
  return value.replace(/^="(.*)"$/s, '$1');
}

/**
 * What a message says of others like it, too: those name other lines, and other keys of their objects. `hint`: of a message
 * about a name in the mapping, which is one mistake in all objects: what to do about it.
 */
export function messageOfAll(message: string): { text: string; hint?: string } {
  const all = message.replace(/^line \d+/, 'this line').replace(/\bline \d+/g, 'another line');
  const [, text, hint = ''] =
    /^(.*?); the object has ".*?(?:\. (For your operator: .*))?$/s.exec(all) ?? [];
  return text === undefined ? { text: all } : { text, hint };
}
