import { moment, timeOfDay } from '../../core/format.ts';
import { escapeHidden, shellWord } from '../../order/text.ts';

/** Markup that is safe to show; only `html` creates it. */
export type Html = { readonly markup: string };

/** The values that a template accepts; everything except Html is text and is escaped. */
export type HtmlPart = Html | readonly Html[] | string | number | undefined;

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
  return 'markup' in part ? part.markup : part.map((each) => each.markup).join('');
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
export function visible(text: string, longest = 2000): string {
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
 * A message in which a moment, such as `2026-11-26 18:38:07 UTC`, is shown in the reader's time zone; one that is known only to
 * the minute has no seconds there either.
 */
export function localTimes(text: string): Html {
  const parts = text.split(/(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC)/).map((part, i) => {
    const isMinute = part.length < '2026-11-26 18:38:07 UTC'.length;
    const stamp = part.replace(' ', 'T').replace(' UTC', isMinute ? ':00.000Z' : '.000Z');
    if (i % 2 === 0 || Number.isNaN(Date.parse(stamp))) return html`${part}`;
    return isMinute ? html`<time datetime="${stamp}" data-minute>${part}</time>` : timeText(stamp);
  });
  return html`${parts}`;
}

/** A time of the timeline, with its date only when it is not on the day of `reference`. */
export function shortTime(stamp: string, reference: string): Html {
  return html`<time datetime="${stamp}" data-day="${reference}">${timeOfDay(stamp, reference)}</time>`;
}

/** The name of the time zone in which `shortTime` is shown. */
export const ZONE: Html = html`<span data-zone>UTC</span>`;

/**
 * The page's only script. It changes only times and needs no network; the page is complete without it.
 * The page's policy allows it by its hash.
 */
export const TIME_SCRIPT = `
const two = (number) => String(number).padStart(2, '0');
const dayOf = (at) => at.getFullYear() + '-' + two(at.getMonth() + 1) + '-' + two(at.getDate());
const clockOf = (at, isMinute) => two(at.getHours()) + ':' + two(at.getMinutes()) + (isMinute ? '' : ':' + two(at.getSeconds()));
const zoneOf = (at) => new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(at).find((part) => part.type === 'timeZoneName').value;
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  const day = time.dataset.day;
  time.title = at.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
  if (day === undefined) time.textContent = dayOf(at) + ' ' + clockOf(at, 'minute' in time.dataset) + ' ' + zoneOf(at);
  else time.textContent = (dayOf(at) === dayOf(new Date(day)) ? '' : dayOf(at) + ' ') + clockOf(at);
}
for (const zone of document.querySelectorAll('[data-zone]')) {
  zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
`;
