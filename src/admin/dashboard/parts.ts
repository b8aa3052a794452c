import { ago, count, iso, stamp } from '../../core/format.ts';
import { isFinished } from '../../ledger/batches/batches.ts';
import { type BatchView, settledIn, standingText } from '../../operate/batches/list-batches.ts';
import type { Closed } from '../../order/dead-letter.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import { countNeedingPerson } from '../../order/outcome.ts';
import { type Html, html, timeText, widthOf } from '../../report/page/html.ts';
import { closingWord } from '../../wording/closing.ts';

/** A link within the dashboard. Steps of its path are encoded by the caller. */
export function link(href: string, text: string): Html {
  return html`<a href="${href}">${text}</a>`;
}

/** The address of a batch. */
export function batchPath(batch: string): string {
  return `/batches/${encodeURIComponent(batch)}`;
}

/** As `sameContentText`, with a link and the reader's time. */
export function sameContentNote({
  batch,
  name,
  at,
}: {
  batch: string;
  name: string;
  at: number;
}): Html {
  return html`<p class="box bad">The same content was read before, as ${link(batchPath(batch), name)} on ${timeText(iso(at))}. Orders that need a person may have been reported there, too. Before you correct this one, see there whether it was settled; if it was, discard it here.</p>`;
}

/** A file that a page names. */
export type NamedFile = { batch?: string | undefined; file?: string | undefined };

/** A file by its name; where another one near it has the same name, with the end of its batch's name, as in the folder. */
export function fileLink({ batch = '', file }: NamedFile, near: readonly NamedFile[]): Html {
  const isNamesake =
    file !== undefined && near.some((one) => one.file === file && one.batch !== batch);
  return link(batchPath(batch), `${file ?? batch}${isNamesake ? ` (${batch.slice(-8)})` : ''}`);
}

/** The page of a dead letter. */
export function letterPath(id: string): string {
  return `/dead-letters/${encodeURIComponent(id)}`;
}

/** The address of an order's history. */
export function orderPath(number: string): string {
  return `/order?number=${encodeURIComponent(number.toWellFormed())}`;
}

/** A link to the history of an order, or that it has no number. */
export function numberLink(number: string): Html {
  return number === '' ? html`no number` : link(orderPath(number), number);
}

/** `3 min 12 s ago`, with the exact time on hover and for scripts. Both in milliseconds. */
export function agoText(at: number, now: number): Html {
  const stamp = new Date(at).toISOString();
  return html`<time datetime="${stamp}" data-ago title="${stamp}">${ago(at, now)}</time>`;
}

/** A text in which the moment `at`, in milliseconds, is shown in the reader's time zone. */
export function withTime(
  text: string | undefined,
  at: number | undefined,
): Html | string | undefined {
  if (text === undefined || at === undefined) return text;
  const [before = '', after] = text.split(stamp(at));
  return after === undefined ? text : html`${before}${timeText(iso(at))}${after}`;
}

/** A table; on a phone each row becomes a card whose cells name their columns. */
export function table(
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly Html[])[],
): Html {
  const head = titles.map((title) => html`<th scope="col">${title}</th>`);
  const body = rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, i) => html`<td class="${widthOf(cell)}" data-title="${titles[i] ?? ''}"><div>${cell}</div></td>`)}</tr>\n`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
}

/** A number, or a text, as a cell. */
export function cell(value: string | number): Html {
  return typeof value === 'number'
    ? html`<span class="number">${count(value)}</span>`
    : html`${value}`;
}

/** Facts, each with its name. */
export function facts(
  pairs: readonly (readonly [name: string, value: Html | string | undefined])[],
): Html {
  const lines = pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [html`<dt>${name}</dt><dd>${value}</dd>\n`],
  );
  return html`<dl>${lines}</dl>`;
}

/** A state as a word with a mark, so that it does not depend on color. */
export function badge(tone: 'good' | 'bad' | 'doubt' | 'quiet', text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** The link to the next page, which keeps the filters; nothing at the end. */
export function nextLink(url: URL, next: string | number | undefined): Html | undefined {
  if (next === undefined) return undefined;
  const query = new URLSearchParams(url.searchParams);
  query.set('after', String(next));
  query.delete('note');
  return html`<p><a rel="next" href="${`${url.pathname}?${query.toString()}`}">Next page</a></p>`;
}

/**
 * A form that acts and leads back to its page. `confirm`: the environment that must be entered. `sure`: what cannot be
 * undone, as the text of a box that must be checked first.
 */
export function actForm(options: {
  action: string;
  back: string;
  button: string;
  confirm?: string | undefined;
  tone?: 'bad' | 'main';
  sure?: string;
  fields?: Html;
}): Html {
  const { action, back, button, confirm, tone, sure, fields } = options;
  const box = sure && html`<label class="check"><input type="checkbox" required> ${sure}</label>`;
  const field =
    confirm === undefined
      ? undefined
      : html`<label>Enter ${confirm} to confirm <input name="confirm" required autocomplete="off" pattern="${confirm.replace(/[^\w]/g, '\\$&')}"></label>`;
  return html`<form method="post" action="${action}" class="act">
<input type="hidden" name="back" value="${back}">${fields}${box}${field}
<button class="${tone ?? ''}">${button}</button>
</form>`;
}

/** A form of filters, or of a search with its own `button`. They are in the address, so that a page can be kept, shared and reloaded. */
export function filterForm(
  url: URL,
  action: string,
  fields: readonly Html[],
  button?: string,
): Html {
  const all =
    button === undefined && isFiltered(url) ? html`<a href="${action}">Show all</a>` : undefined;
  return html`<form method="get" action="${action}" class="filters" role="search">${fields}
<button>${button ?? 'Filter'}</button> ${all}
</form>`;
}

export function isFiltered({ searchParams }: URL): boolean {
  return [...searchParams].some(([name, value]) => name !== 'zone' && value !== '');
}

/** A text filter with the value of the address. */
export function textField(url: URL, name: string, title: string): Html {
  return html`<label>${title} <input name="${name}" type="search" value="${url.searchParams.get(name) ?? ''}"></label>`;
}

/** A choice; the first option is any value. */
export function select(
  url: URL,
  name: string,
  title: string,
  values: readonly string[],
  shown = values,
): Html {
  const now = url.searchParams.get(name);
  const options = values.map((value, i) => {
    const text = shown[i] ?? value;
    return value === now
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  });
  return html`<label>${title} <select name="${name}"><option value="">any</option>${options}</select></label>`;
}

/** The first and the last day; a script sets the reader's time zone, in which times are shown. */
export function dayFields(url: URL): Html {
  const value = (name: string) => url.searchParams.get(name) ?? '';
  const zone = value('zone');
  const field = (name: string, title: Html) =>
    html`<label><span>${title}</span> <input name="${name}" type="date" value="${value(name) || value('day')}"></label>`;
  return html`${field('from', html`From (<span data-zone>${zone || 'UTC'}</span>)`)}${field('to', html`To`)}<input type="hidden" name="zone" value="${zone}" data-zone>`;
}

/** As `standingText`; it does not look as if nothing went out while the rest of a file is read. */
export function shownStanding(view: BatchView): string {
  const { counts, unsettled, cancelled } = view.batch;
  const isOver = cancelled || view.endedWith !== undefined;
  const isSent = settledIn(view.batch) > counts.invalid + counts.cancelled;
  const isBoth = view.standing === 'reading' && unsettled === undefined && !isOver && isSent;
  return isBoth ? 'sending, still reading' : standingText(view);
}

/** The buttons of a batch that is held, or not finished. */
export function batchActs(
  { batch, standing, over, endedWith }: BatchView,
  back: string,
  confirm: string | undefined,
): Html {
  const fields = html`<input type="hidden" name="batch" value="${batch.batch}">`;
  const release =
    standing === 'waiting'
      ? actForm({
          action: '/batches/release',
          fields,
          back,
          button: 'Release: send the remaining orders',
          confirm,
        })
      : undefined;
  const isUnread = standing === 'unreadable' && over === undefined;
  const cancel =
    endedWith || batch.cancelled || batch.state === 'done' || isFinished(batch)
      ? isUnread &&
        actForm({
          action: '/batches/cancel',
          fields,
          back,
          button: 'Close: nobody needs it',
          confirm,
        })
      : actForm({
          action: '/batches/cancel',
          fields,
          back,
          button: 'Cancel orders that were not sent',
          confirm,
          tone: 'bad',
          sure: `Cancel: these orders are not sent, and are in no fix file. ${batch.kind === 'export' ? CANCELLED_IN_EXPORT : 'To send them, drop the complete file again.'} Rows that failed a check and orders that the API refused stay open: this page links them when the file is finished, and they can be discarded together.`,
        });
  return html`<div class="acts">${release}${cancel || undefined}</div>`;
}

/** How many of those that needed a person no longer do: the outcomes of a batch stay as they were. */
export function settledNote({ batch: { counts, open } }: BatchView): Html | undefined {
  const all = countNeedingPerson(counts);
  if (all === 0 || open >= all) return undefined;
  if (open === 0) return html`<p>${badge('good', 'nothing here needs you')}</p>`;
  const [settled, was] = [all - open, all - open === 1 ? 'was' : 'were'];
  return html`<p>${count(settled)} of ${count(all)} that needed a person ${was} settled.</p>`;
}

/** How a dead letter was closed: in which file and by whom. */
export function closedText({ by, batch, who, end }: Closed): Html {
  const place = batch === undefined ? undefined : html` in ${link(batchPath(batch), batch)}`;
  const then = end === undefined ? undefined : html`; then ${closingWord(end.by)}`;
  return html`${closingWord(by)}${place}${who === undefined ? '' : ` by ${who}`}${then}`;
}
