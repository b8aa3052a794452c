import { moment } from '../../core/format.ts';
import { asText, type Sentence } from '../../order/sentence.ts';
import { escapeHidden, shellWord } from '../../order/text.ts';

/** Markup that is safe to show; only `html` creates it. */
export type Html = { readonly markup: string };

/** The values that a template accepts; everything except Html is text and is escaped. */
export type HtmlPart = Html | readonly Html[] | string | Sentence | number | undefined;

/**
 * Builds markup from a template. Escapes every text value for elements and quoted attributes, and shows
 * invisible characters as escapes; undefined shows nothing.
 */
export function html(template: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const markup = template.map((fixed, index) => fixed + markupOf(parts[index])).join('');
  return { markup };
}

/** The class of a cell: a short text stays on one line, a word without a place to break it is broken anywhere. */
export function widthOf({ markup }: Html): 'short' | 'long' | '' {
  const text = markup.replace(/<[^>]*>/g, ' ').trim();
  if (text.length <= 20) return 'short';
  return /[^\s<>-]{30}/.test(text) ? 'long' : '';
}

function markupOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(visible(part));
  if (typeof part === 'number') return String(part);
  if (Array.isArray(part)) return part.map((each: Html) => each.markup).join('');
  return 'markup' in part ? part.markup : '';
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** The text with hidden characters escaped. Text longer than `longest` characters is cut and ends with an ellipsis. */
export function visible(shownText: string | Sentence, longest = 2000): string {
  const text = typeof shownText === 'string' ? shownText : asText(shownText);
  return escapeHidden(text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);
}

/** Where a page refers to: the folder for corrected files. */
export type PageLinks = { inbox?: string | undefined };

/** A link to a file that only the report's own folder has. */
export function reportLink(name: string): Html {
  return html`<a href="${name}">${name}</a>`;
}

/** A command on its own line, which breaks only between words. */
export function command(...words: readonly string[]): Html {
  return html`<code class="command">${words.map((word) => html`<span>${shellWord(word)}</span> `)}</code>`;
}

/** A time on the page: UTC, until `TIME_SCRIPT` shows it in the reader's time zone with UTC on hover. */
export function timeText(stamp: string): Html {
  return html`<time datetime="${stamp}">${moment(stamp)}</time>`;
}

/**
 * The page's only script. It changes only times and needs no network; the page is complete without it.
 * The page's policy allows it by its hash.
 */
export const TIME_SCRIPT = `
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = at.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}
`;
