/** Cc: control characters, line ends and tabs included. */
const CONTROL = /\p{Cc}/u;

/** Text without control characters, as a pattern for schemas. */
export const WITHOUT_CONTROLS = /^\P{Cc}*$/u;

/**
 * Characters that a reader cannot see or tell from a plain blank, or that change the text around them: control, format
 * (bidirectional marks, zero width), lone surrogate and private-use characters, line separators, and every blank but
 * the plain and the ideographic one.
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

/** What a person sees of a text: without hidden characters and blanks, in one form of each letter. */
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

/** The text on one line: hidden characters become single blanks. For places that a person reads and no program. */
export function onOneLine(text: string): string {
  return text.replace(HIDDEN_RUN, ' ').trim();
}

/** One escape for each UTF-16 unit, as JSON writes them. */
function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
