import { count, moment, orders, outcomeWord } from '../../core/format.ts';
import { asText } from '../../order/sentence.ts';
import { asShown } from '../../order/text.ts';
import type { AffectedOrder } from '../dead-letters.ts';
import { byWeight, type ErrorGroup, type Story } from '../story.ts';
import { type Html, html, reportLink, timeText, visible } from './html.ts';

/** Maximum number of rows on the page, so that a browser shows it quickly. */
const MOST_ROWS = 2000;
/** Rows of a group that are visible without a click. */
const ROWS_AT_ONCE = 10;
const MOST_GROUPS_SHOWN = 100;
/** Characters of a number, a field or an item. */
const MOST_NAME = 100;
/** Characters of a message: it ends with what to do. */
const LONGEST_MESSAGE = 700;
/** Characters of the other messages of an order. */
const LONGEST_ALSO = 1500;
/** Characters of the first items of an order. */
const MOST_ITEMS = 300;

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
${hidden === 0 ? undefined : html`<p class="more">${orders(hidden)} with other errors: see ${reportLink('dead-letters.json')}.</p>`}
</section>`;
}

function groupCard(group: ErrorGroup, most: number): Html {
  const rows = group.orders.slice(0, most);
  const first = rows.slice(0, ROWS_AT_ONCE);
  const rest = rows.slice(ROWS_AT_ONCE);
  const columns = columnsOf(rows);
  return html`<article class="group">
<header><h3>${sampleOf(group)}</h3>
<p class="tally">${tallyOf(group)} <span class="tag">${group.kind === 'conflict' ? 'in conflict' : outcomeWord(group.kind)}</span></p>
<p class="soft">${codeText(group.code)} ${seen(group)}</p></header>
${table(first, columns)}
${rest.length === 0 ? undefined : html`<details><summary>${count(rest.length)} more</summary>${table(rest, columns)}</details>`}
${group.count > rows.length ? html`<p class="more">${count(group.count - rows.length)} more in ${reportLink('dead-letters.json')}.</p>` : undefined}
</article>`;
}

/** What a group counts. Rows without a number cannot be counted as orders: several may belong to one. */
function tallyOf({ count: total, nameless }: ErrorGroup): Html {
  const named = html`<b>${count(total - nameless)}</b> ${total - nameless === 1 ? 'order' : 'orders'}`;
  const rows = html`<b>${count(nameless)}</b> ${nameless === 1 ? 'row' : 'rows'} without an order number`;
  if (nameless === 0) return named;
  return nameless === total ? rows : html`${named} and ${rows}`;
}

function sampleOf(group: ErrorGroup): string {
  const [first, ...others] = group.orders;
  const sample = visible(group.message, LONGEST_MESSAGE);
  const isOne = others.every(({ message }) => message === first?.message);
  return isOne ? sample : `${sample} (and similar)`;
}

/** A code of po-sync, or the status of the API's answer. */
function codeText(code: string): Html {
  return html`${/^\d{3}$/.test(code) ? 'API answer' : 'code'} <code>${visible(code, MOST_NAME)}</code>`;
}

function seen({ firstAt, lastAt }: ErrorGroup): Html {
  // Times are shown in seconds.
  if (moment(firstAt) === moment(lastAt)) return html`· seen ${timeText(firstAt)}`;
  return html`· first seen ${timeText(firstAt)}, last ${timeText(lastAt)}`;
}

type Column = {
  name: string;
  show: (order: AffectedOrder) => Html | undefined;
  kind: 'figure' | 'data' | 'data order' | 'data items' | 'prose';
};

type TextOf = (order: AffectedOrder) => string;

/** Line and order always; other columns only if they add information. */
function columnsOf(rows: readonly AffectedOrder[]): Column[] {
  const differs = (pick: TextOf) => new Set(rows.map(pick)).size > 1;
  const occurs = (pick: TextOf) => rows.some((order) => pick(order) !== '');
  const short = (name: string, pick: TextOf): Column => {
    return { name, show: (order) => data(visible(pick(order), MOST_NAME)), kind: 'data' };
  };
  const isConflict = rows.some((order) => order.knownItems.length > 0);
  const columns: [Column, isShown: boolean][] = [
    [{ name: 'Line', show: (order) => data(String(order.line)), kind: 'figure' }, true],
    [{ ...short('Order', (order) => order.number), kind: 'data order' }, true],
    [short('Place', (order) => order.pointer), occurs((order) => order.pointer)],
    [short('Field', (order) => order.field), differs((order) => order.field)],
    // The number itself is in the column before.
    [
      { name: 'Value', show: (order) => data(visible(asShown(order.value), 200)), kind: 'data' },
      occurs(({ value, number }) => (value === number ? '' : value)),
    ],
    [
      { name: 'Items', show: ({ ownItems }) => data(visible(ownItems, MOST_ITEMS)), kind: 'data' },
      occurs((order) => order.ownItems),
    ],
    [both('In this file', (order) => [order.items, order.knownItems]), isConflict],
    [both('Already known', (order) => [order.knownItems, order.items]), isConflict],
    [
      {
        name: 'Message',
        show: ({ message }) => prose(asText(message), LONGEST_MESSAGE),
        kind: 'prose',
      },
      differs((order) => asText(order.message)),
    ],
    [
      { name: 'Also wrong', show: (order) => prose(order.also, LONGEST_ALSO), kind: 'prose' },
      occurs((order) => order.also),
    ],
  ];
  return columns.filter(([, isShown]) => isShown).map(([column]) => column);
}

/** Of a conflict: the items of one order beside those of the other. */
function both(name: string, of: (order: AffectedOrder) => Parameters<typeof itemList>): Column {
  return { name, show: (order) => itemList(...of(order)), kind: 'data items' };
}

/** One item a line; what the other order does not have is bold. */
function itemList(items: readonly string[], others: readonly string[]): Html {
  if (items.length === 0) return html`<span class="soft">not available</span>`;
  return html`${items.map((item) => html`<bdi class="${others.includes(item) ? 'item' : 'item other'}">${visible(item, MOST_NAME)}</bdi> `)}`;
}

function data(text: string): Html {
  return text === '' ? html`<span class="soft">(empty)</span>` : html`<bdi>${text}</bdi>`;
}

function prose(text: string, longest: number): Html | undefined {
  return text === '' ? undefined : html`<bdi>${visible(text, longest)}</bdi>`;
}

function table(rows: readonly AffectedOrder[], columns: readonly Column[]): Html {
  // On a phone, the items of an order do not fit beside its number.
  const isWide = columns.some(({ kind, name }) => kind === 'prose' || name === 'Items');
  const kind = columns.length > 3 || isWide ? 'wide' : 'slim';
  const widths = columns.map((column) => html`<col class="${column.kind}">`);
  const heads = columns.map(
    (column) => html`<th scope="col" class="${column.kind}">${column.name}</th>`,
  );
  const body = rows.map((row) => html`<tr>${columns.map((column) => cell(row, column))}</tr>\n`);
  return html`<table class="${kind}"><colgroup>${widths}</colgroup><thead><tr>${heads}</tr></thead>
<tbody>${body}</tbody></table>`;
}

function cell(row: AffectedOrder, { name, show, kind }: Column): Html {
  return html`<td data-label="${name}" class="${kind}"><div>${show(row)}</div></td>`;
}
