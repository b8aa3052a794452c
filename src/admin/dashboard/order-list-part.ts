import { PoSyncError } from '../../core/errors.ts';
import { count, orders } from '../../core/format.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import { countNeedingPerson, type OrderResult } from '../../order/outcome.ts';
import { type Html, html } from '../../report/page/html.ts';
import { leadBack } from '../api/act-routes.ts';
import type { ApiContext } from '../api/api-context.ts';
import { BATCH_FILTERS, type BatchSum } from '../api/batch-routes.ts';
import { LETTER_FILTERS, SETTLED_FILTERS } from '../api/dead-letter-routes.ts';
import { itemListReply, orderListReply } from '../api/order-list-route.ts';
import type { Reply, Route } from '../http/route.ts';
import { cell, link, table } from './parts.ts';

/** The downloads of all orders of the batches that a page lists, on all pages of the list. */
export function orderListLinks({ searchParams }: URL): Html {
  const filters = [...searchParams].filter(
    ([name, value]) => BATCH_FILTERS.includes(name) && value !== '',
  );
  const query = new URLSearchParams(filters).toString();
  const path = `/orders.csv${query === '' ? '' : `?${query}`}`;
  const accepted = `/orders.csv?${new URLSearchParams([...filters, ['accepted', 'true']]).toString()}`;
  const items = (name: string) => `/items.${name}${query === '' ? '' : `?${query}`}`;
  return html`<p>Orders of all files that match: ${link(items('xlsx'), 'accepted orders with articles and quantities, as a spreadsheet')}. As CSV: ${link(accepted, 'accepted orders')} · ${link(items('csv'), 'accepted orders with articles and quantities')} · ${link(path, 'all orders with their outcomes')}. <span class="quiet">The days are those on which the files were taken.</span></p>`;
}

/** The downloads of the page Batches; where one is refused, that page says why. */
export function orderListPageRoutes(api: ApiContext): Route[] {
  const lists = [
    { path: '/orders.csv', reply: orderListReply },
    { path: '/items.csv', reply: itemListReply },
    { path: '/items.xlsx', reply: (one: ApiContext, url: URL) => itemListReply(one, url, 'xlsx') },
  ];
  return lists.map(({ path, reply }) => ({
    method: 'GET',
    path,
    handle: ({ url }) => leadBackOnError(api, '/batches', url, () => reply(api, url)),
  }));
}

/** A download with these filters of a page. */
export function listPath({ searchParams }: URL, path: string, filters: readonly string[]): string {
  const query = new URLSearchParams(
    [...searchParams].filter(([name, value]) => filters.includes(name) && value !== ''),
  );
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The answer to a download; when it is refused, the page with the same filters, which says why. */
export async function leadBackOnError(
  api: ApiContext,
  page: string,
  { searchParams }: URL,
  download: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await api.withRedis(download);
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const text = [error.message, error.remedy].filter(Boolean).join(' ');
    const known = [...BATCH_FILTERS, ...SETTLED_FILTERS, ...LETTER_FILTERS];
    const back = new URLSearchParams([...searchParams].filter(([name]) => known.includes(name)));
    const path = `${page}?${back.toString()}`;
    back.set('state', 'finished');
    const link = { path: `${page}?${back.toString()}`, says: 'List the finished files' };
    const more = error.code === 'order-list-unfinished' && { link };
    return leadBack(path, api.notes.keep({ text, isGood: false, ...more }));
  }
}

/** The items of the orders that went out; a person who cancelled the file has to inform the supplier. */
export function sentPart({
  batch,
  kind,
  state,
  cancelled,
  counts,
  open,
}: BatchView['batch']): Html | undefined {
  const { accepted } = counts;
  const isShown = kind === 'export' && cancelled && (counts.cancelled > 0 || state !== 'done');
  const again = isShown ? html`<p class="box doubt">${CANCELLED_IN_EXPORT}</p>` : undefined;
  if (state !== 'done') return cancelled ? html`${CANCELLING}${again}` : undefined;
  if (accepted === 0) return again;
  const items = link(
    `/items.xlsx?q=${encodeURIComponent(batch)}`,
    'Its accepted orders with articles and quantities, as a spreadsheet',
  );
  const later =
    countNeedingPerson(counts) > open
      ? html` <span class="quiet">${BROUGHT_LATER}</span>`
      : undefined;
  if (!cancelled) return html`<p>${items}${later}</p>`;
  const [were, them] = accepted === 1 ? ['was', 'it'] : ['were', 'them'];
  return html`<p class="box doubt">${orders(accepted)} of this file ${were} accepted. po-sync cannot withdraw ${them}, because the order API cannot do it: if the file was wrong, inform the supplier. ${items}</p>${again}`;
}

const BROUGHT_LATER = html`Without those that another file brought later: they are on the page of that file. <a href="/batches">Batches</a> has the orders of all files.`;

const CANCELLING = html`<p class="box doubt" role="status">This file is cancelled: what was not sent is withdrawn. Orders that are being sent, or may have been sent, still get their outcome; none of them is sent again. When the file is finished, this page has its accepted orders as a spreadsheet.</p>`;

/** The cancelled orders of a page that the API has now: a later file brought them. */
export async function orderedSince(
  { base }: ApiContext,
  listed: readonly OrderResult[],
): Promise<Set<string>> {
  const numbers = listed.flatMap((one) =>
    one.outcome === 'cancelled' ? [one.purchaseOrderNumber] : [],
  );
  const known = numbers.length === 0 ? [] : await base.ledger.lookup(numbers);
  return new Set(numbers.filter((_, i) => known[i]?.kind === 'accepted'));
}

/** How many orders arrived in the files that match, on all pages of the list. */
export function sumTable({ files, fixFiles }: { files: BatchSum; fixFiles: BatchSum }): Html {
  const row = (title: string, sum: BatchSum) => {
    const shown = { ...sum, orders: sum.orders - sum.nameless };
    return [html`${title}`, ...SUMMED.map((name) => cell(shown[name]))];
  };
  const both = [row('files', files), ...(fixFiles.files === 0 ? [] : [row('fix files', fixFiles)])];
  const all = (name: keyof BatchSum) => files[name] + fixFiles[name];
  const left =
    all('orders') - all('accepted') - all('duplicate') - all('cancelled') - all('needPerson');
  const waiting = left > 0 ? html`, ${orders(left)} without an outcome yet` : undefined;
  const titles = ['sum', ...SUMMED.map((name) => SUM_TITLES[name] ?? name)];
  return html`${table('Sum of all that match', titles, both)}<p>Accepted at first, with those of fix files: ${count(all('accepted'))} different ${all('accepted') === 1 ? 'order' : 'orders'}${waiting}.</p><p class="quiet">Orders that needed a person, and that the API accepted when they were sent again unchanged, are not counted as accepted here; the list of accepted orders has them, too. An order is accepted only once, but the other columns may count it again: as a duplicate, if it came again unchanged; as one that needed a person, if it came again with other content or with an error; and in each file and fix file in which it was wrong. Therefore do not subtract the accepted orders from the others.</p>`;
}

const SUM_TITLES: Partial<Record<keyof BatchSum, string>> = {
  files: 'number',
  nameless: 'rows without a number',
  needPerson: 'needed a person',
  open: 'still open',
};
const SUMMED = [
  'files',
  'orders',
  'nameless',
  'accepted',
  'duplicate',
  'cancelled',
  'needPerson',
  'open',
] as const;
