import { escapeHidden } from '../../order/hidden-characters.ts';

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

/** The text with its hidden characters escaped; longer than `longest` characters, it is cut and ends with an ellipsis. */
export function visible(text: string, longest = 2000): string {
  return escapeHidden(text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);
}
