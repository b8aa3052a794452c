import { LIMITS } from './limits.ts';

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

/** The text, cut to `length` characters for a report, never within a character. */
export function shorten(text: string, length: number = LIMITS.shownValue): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
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

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The first control character of a text as `U+001B`; undefined when it has none. */
export function controlCharacterIn(text: string): string | undefined {
  return codePointOf(CONTROL.exec(text)?.[0]);
}

function codePointOf(character: string | undefined): string | undefined {
  const point = character?.codePointAt(0);
  return point === undefined ? undefined : `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
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
function commandWords(argument: string, ...options: readonly string[]): string[] {
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

/** A value as its cell shows it: one that a workbook does not show exactly is kept as a formula text. */
export function asShown(value: string): string {
  return value.replace(/^="(.*)"$/s, '$1');
}

/** Words of the API without what identifies an order: what is in quotes, and each word with a digit. */
export function alike(says: string): string {
  return says
    .slice(0, 2_000)
    .replace(/"[^"\n]*"|“[^”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu, '…')
    .replace(/\S+/gu, (word) => (/\p{N}/u.test(word) ? '…' : word))
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
