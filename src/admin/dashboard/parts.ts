import { count } from '../../core/format.ts';
import type { Closed } from '../../order/dead-letter.ts';
import { type Html, html, widthOf } from '../../report/page/html.ts';
import { closingWord } from '../../wording/closing.ts';

/** A link within the dashboard. Steps of its path are encoded by the caller. */
export function link(href: string, text: string): Html {
  return html`<a href="${href}">${text}</a>`;
}

/** The address of a batch. */
export function batchPath(batch: string): string {
  return `/batches/${encodeURIComponent(batch)}`;
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
  return [...searchParams].some(([, value]) => value !== '');
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

/** How a dead letter was closed: in which file and by whom. */
export function closedText({ by, batch, who }: Closed): Html {
  const place = batch === undefined ? undefined : html` in ${link(batchPath(batch), batch)}`;
  return html`${closingWord(by)}${place}${who === undefined ? '' : ` by ${who}`}`;
}
