import { isLoopback } from '../../config/fields.ts';
import { count, moment, timeOfDay } from '../../core/format.ts';
import { INTO_NO_INBOX } from '../../order/fixing.ts';
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

/** A link to the fix file, by its name in the folder of the page. */
function fixLink(name: string): Html {
  return html`<a class="fix" href="${encodeURIComponent(name.toWellFormed())}">${name}</a>`;
}

/** A link to a file that only the report's own folder has. */
export function reportLink(name: string): Html {
  return html`<a data-in-report href="${name}">${name}</a>`;
}

/** The file of another batch, by its name where that is known, with a link to its report. */
export function fileAndBatch(file: string | undefined, batch: string): Html {
  return file === undefined
    ? html`batch ${batchLink(batch)}`
    : html`<bdi>${visible(file, 120)}</bdi> <small>(batch ${batchLink(batch)})</small>`;
}

/** The number that an order has now, if it has one. */
export function asNumber(number = '', how = ' as '): Html | undefined {
  return number === '' ? undefined : html`${how}<bdi>${visible(number, 100)}</bdi>`;
}

/** A link to the report of another batch. */
function batchLink(batch: string): Html {
  return html`<a data-in-reports href="../${encodeURIComponent(batch)}/report.html">${batch}</a>`;
}

/** Where every situation is explained; undefined where no address of the dashboard is known. */
export function helpLink({ help }: { help?: string }): Html | undefined {
  if (help === undefined) return undefined;
  const where = isLoopback(new URL(help).hostname) ? ', on the machine on which po-sync runs' : '';
  return html`<p class="help">All situations are explained on the page <a href="${help}">Help</a> of the dashboard${where}.</p>`;
}

/** The sentences of docs/for-clerks.md, for people who have only the report. */
export const CLERK_HELP: readonly string[] = [
  'A green line on the left means that nothing needs you; a red line means that some orders wait for you.',
  'The title says how many orders wait; all others are done.',
  '"What went wrong" names each of them with its line in your file and the reason.',
  'Open fix.xlsx with a spreadsheet: the report links it, and it is next to your file as <name>.fix.xlsx.',
  'It contains only the rows that need you, with your own columns; _problem says what is wrong, and the cells to correct are marked.',
  'Correct them, and keep the column _id. What you do not change stays as it is: a row that you remove is not removed from its order.',
  'Write discard into _do of every row of an order that is not wanted, and send where a row or an order is right as it is.',
  'Save a copy and drop it into the inbox that the report names. If your name should be on the page Corrections, send the order with the form on its page, or the file with the page Upload.',
  'Orders that were accepted are never sent again. If you drop a file twice, the second report names the first: what was settled there, discard here.',
  'The line becomes green when every order is settled. An order in conflict: agree with the supplier and discard it, or ask your operator. Orders in doubt are for your operator.',
];

/** The same, folded. */
export function help(): Html {
  return html`<details class="help"><summary>How to work with this report</summary>
<ul>${CLERK_HELP.map((sentence) => html`<li>${sentence}</li>`)}</ul></details>`;
}

/** The inbox by its path; the page next to a settled file links it. */
export function inboxText(path: string): Html {
  return html`<code data-inbox>${path}</code>`;
}

/** Where corrected files belong, as far as the report knows. */
export function into({ inbox }: { inbox?: string }): Html {
  return inbox === undefined ? html` ${INTO_NO_INBOX}` : html` into the inbox ${inboxText(inbox)}`;
}

/** The fix files of a report, or the rows of the own file where there are none. */
export function fixLinks(names: readonly string[]): Html {
  const [first] = names;
  return first === undefined ? html`the rows of your file` : fixLink(first);
}

/** A command on its own line, which breaks only between words. */
export function command(...words: readonly string[]): Html {
  return html`<code class="command">${words.map((word) => html`<span>${shellWord(word)}</span> `)}</code>`;
}

/** One command that discards orders, at most ten; a person leaves out those that are to be kept. */
export function discardCommand(orders: readonly { number: string }[], total: number): Html {
  const options = orders.slice(0, 10).flatMap(({ number }) => ['--order', number]);
  const keep = total > 1 ? 'Leave out each order that you keep. ' : undefined;
  return html`${command('po-sync', 'dead-letters', 'discard', ...options)}${keep}${moreOf(total, options.length / 2)}`;
}

/** That what is shown for some orders is the same for the others. */
export function moreOf(total: number, shown: number): Html | undefined {
  return total > shown
    ? html`<span class="soft">and the same for ${count(total - shown)} more.</span> `
    : undefined;
}

const IN_REPORTS = /<a data-in-reports href="[^"]*">([^<]*)<\/a>/g;
const IN_REPORT = /<a data-in-report href="[^"]*">([^<]*)<\/a>/g;

/**
 * Where a copy of the page is: the report's folder, the fix files next to it, its inbox where that is two folders above,
 * and the pages of other batches in the same inbox, as relative addresses by batch.
 */
export type PlaceOfPage = {
  report: string;
  fixes: readonly { name: string; placedAs: string }[];
  inbox?: string | undefined;
  pages?: ReadonlyMap<string, string>;
};

const INBOX_ABOVE = html`<a href="../../">two folders above this page</a>`;

/**
 * The page for the folder of the settled file: links the fix file by its name there, and names the report's other files
 * by their path. Replacing in the finished text is safe, because quotes in data are escaped and ours are not.
 */
export function pageBeside(
  page: string,
  { report, fixes, inbox, pages = new Map() }: PlaceOfPage,
): string {
  const placed = page
    .replace(IN_REPORT, (_, name: string) => html`<code>${report}/${name}</code>`.markup)
    .replace(IN_REPORTS, (_, batch: string) => {
      const page = pages.get(batch);
      return (
        page === undefined ? html`<code>${batch}</code>` : html`<a href="${page}">${batch}</a>`
      ).markup;
    });
  const linked =
    inbox === undefined
      ? placed
      : placed.replaceAll(inboxText(inbox).markup, () => INBOX_ABOVE.markup);
  return fixes.reduce(
    (text, { name, placedAs }) =>
      text.replaceAll(fixLink(name).markup, () => fixLink(placedAs).markup),
    linked,
  );
}

const FIX_LINK = /<a class="fix" href="[^"]*">([^<]*)<\/a>/g;

/**
 * The page as a single file, such as one that is sent by mail: it names files and batches
 * without a link and says where they are. `home`: the address of its page in the dashboard where others reach it;
 * `fixNameOf`: the name of a fix file as a download.
 */
export function pageAlone(
  page: string,
  { home, fixNameOf }: { home?: string | undefined; fixNameOf: (name: string) => string },
): string {
  const named = page
    .replace(IN_REPORT, (_, name: string) => html`<code>${name}</code>`.markup)
    .replace(IN_REPORTS, '$1')
    .replace(FIX_LINK, (_, name: string) => html`<b>${fixNameOf(name)}</b>`.markup);
  if (named === page) return page;
  const place =
    home === undefined ? html`page of this file` : html`<a href="${home}">page of this file</a>`;
  const note = html`<p class="lead soft">This is a copy from the dashboard. The files that it names are there, on the ${place}; reports of other files are on their own pages.</p>`;
  return named.replace('</header>', () => `${note.markup}\n</header>`);
}

/** Marks a page with its batch, so that a later page of the batch can replace it. */
export function batchMark(batch: string): Html {
  return html`<meta name="po-sync-batch" content="${batch}">`;
}

/** The batch mark of a page; undefined when po-sync did not write the page. */
export function batchMarkIn(page: string): string | undefined {
  return /<meta name="po-sync-batch" content="[^"]*">/.exec(page)?.[0];
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
