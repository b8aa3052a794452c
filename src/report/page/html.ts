/** Markup that is safe to show; only `html` creates it. */
export type Html = { readonly markup: string };

/** What a template takes; everything but Html is text and gets escaped. */
export type HtmlPart = Html | readonly Html[] | string | number | undefined;

/**
 * Builds markup from a template. Escapes every text value for elements and quoted attributes, and writes out its
 * invisible characters; undefined shows nothing.
 */
export function html(template: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const markup = template.map((fixed, index) => fixed + markupOf(parts[index])).join('');
  return { markup };
}

function markupOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(visible(part));
  if (typeof part === 'number') return String(part);
  return 'markup' in part ? part.markup : part.map((each) => each.markup).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Controls, bidi and other format characters, lone surrogates, private use, and every blank but the plain ones. */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]--[ \u3000]]/gv;

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/**
 * The text with its invisible characters written out (`\u202E`, `\n`), so that they can neither hide a difference nor
 * reorder the text around them. Cuts the text after `longest` characters, with an ellipsis.
 */
export function visible(text: string, longest = 2000): string {
  const shown = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return shown.replace(UNSEEN, (character) => SHORT[character] ?? escapeOf(character));
}

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
