import { count, moment, orders, outcomeWord } from '../../core/format.ts';
import { type AffectedOrder, byWeight, type ErrorGroup } from '../error-groups.ts';
import type { Story } from '../story.ts';
import { type Html, html, visible } from './html.ts';
import { reportLink } from './links.ts';

/** Rows of one page in all: what a browser shows at once, whatever the number of kinds. */
const MOST_ROWS = 2000;
/** Rows of one group that show without a click. */
const ROWS_AT_ONCE = 10;
const MOST_GROUPS_SHOWN = 100;

/** The dead letters by kind of error, those with the most orders first. */
export function errorsSection(story: Story): Html | undefined {
  const groups = byWeight(story.groups);
  if (groups.length === 0) return undefined;
  const shown = groups.slice(0, MOST_GROUPS_SHOWN);
  const most = Math.max(Math.floor(MOST_ROWS / shown.length), 3);
  const hidden = groups.slice(shown.length).reduce((sum, group) => sum + group.count, 0);
  return html`<section aria-labelledby="errors">
<h2 id="errors">What went wrong</h2>
${shown.map((group) => groupCard(group, most))}
${hidden === 0 ? undefined : html`<p class="more">Further kinds of errors with ${orders(hidden)} in ${reportLink(ENTRY_LIST)}.</p>`}
</section>`;
}

/** The list that holds every entry. */
const ENTRY_LIST = 'dead-letters.json';

function groupCard(group: ErrorGroup, most: number): Html {
  const rows = group.orders.slice(0, most);
  const first = rows.slice(0, ROWS_AT_ONCE);
  const rest = rows.slice(ROWS_AT_ONCE);
  const columns = columnsOf(rows);
  return html`<article class="group">
<header><p class="tally"><b>${count(group.count)}</b> ${group.count === 1 ? 'order' : 'orders'} <span class="tag">${outcomeWord(group.kind)}</span>${settled(group)}</p>
<h3>${sampleOf(group)}</h3>
<p class="soft"><code>${group.code}</code> ${seen(group)}</p></header>
${listing(first, columns)}
${rest.length === 0 ? undefined : html`<details><summary>${count(rest.length)} more</summary>${listing(rest, columns)}</details>`}
${group.count > rows.length ? html`<p class="more">And ${count(group.count - rows.length)} more in ${reportLink(ENTRY_LIST)}.</p>` : undefined}
</article>`;
}

function settled(group: ErrorGroup): Html | undefined {
  if (group.closed === 0) return undefined;
  return html` <span class="tag calm">${group.closed === group.count ? 'all' : count(group.closed)} settled since</span>`;
}

function sampleOf(group: ErrorGroup): string {
  const field = group.orders[0]?.field ?? '';
  const sample = visible(group.message, 300);
  return field === '' || !group.orders.every((order) => order.field === field) ? sample : `${field}: ${sample}`;
}

function seen(group: ErrorGroup): string {
  const [first, last] = [moment(group.firstAt), moment(group.lastAt)];
  return first === last ? `· seen ${first}` : `· first seen ${first}, last ${last}`;
}

type Column = { name: string; text: (order: AffectedOrder) => string; kind: 'figure' | 'data' | 'prose' };

/** Line and order always; the others where there is something to tell one row from another. */
function columnsOf(rows: readonly AffectedOrder[]): Column[] {
  const differs = (pick: (order: AffectedOrder) => string) => new Set(rows.map(pick)).size > 1;
  const columns: (Column & { shown: boolean })[] = [
    { name: 'Line', text: (order) => String(order.line), kind: 'figure', shown: true },
    { name: 'Order', text: (order) => order.number, kind: 'data', shown: true },
    {
      name: 'Place',
      text: (order) => order.pointer,
      kind: 'data',
      shown: rows.some((order) => order.pointer !== ''),
    },
    { name: 'Field', text: (order) => order.field, kind: 'data', shown: differs((order) => order.field) },
    {
      name: 'Value',
      text: (order) => visible(order.value, 200),
      kind: 'data',
      shown: rows.some((order) => order.value !== ''),
    },
    {
      name: 'Message',
      text: (order) => visible(order.message, 300),
      kind: 'prose',
      shown: differs((order) => order.message),
    },
    {
      name: 'Also wrong',
      text: (order) => visible(order.also, 200),
      kind: 'prose',
      shown: rows.some((order) => order.also !== ''),
    },
  ];
  return columns.filter((column) => column.shown);
}

/** A table, or a compact list where line and number say it all. */
function listing(rows: readonly AffectedOrder[], columns: readonly Column[]): Html {
  if (columns.length > 2) return table(rows, columns);
  return html`<ul class="orders">${rows.map((row) => html`<li><span class="soft">line ${row.line}</span> ${content(row.number)}</li>\n`)}</ul>`;
}

function table(rows: readonly AffectedOrder[], columns: readonly Column[]): Html {
  const kind = columns.some((column) => column.kind === 'prose') ? 'wide' : 'slim';
  const widths = columns.map((column) => html`<col class="${column.kind}">`);
  const heads = columns.map((column) => html`<th scope="col" class="${column.kind}">${column.name}</th>`);
  const body = rows.map((row) => html`<tr>${columns.map((column) => cell(row, column))}</tr>\n`);
  return html`<table class="${kind}"><colgroup>${widths}</colgroup><thead><tr>${heads}</tr></thead>
<tbody>${body}</tbody></table>`;
}

function cell(row: AffectedOrder, { name, text, kind }: Column): Html {
  return html`<td data-label="${name}" class="${kind}">${content(text(row), kind)}</td>`;
}

function content(text: string, kind: Column['kind'] = 'data'): Html | undefined {
  if (text === '' && kind === 'prose') return undefined;
  return text === '' ? html`<span class="soft">(empty)</span>` : html`<bdi>${text}</bdi>`;
}
