import { PoSyncError } from '../../core/errors.ts';
import { type Html, html } from '../../report/page/html.ts';
import { leadBack } from '../api/act-routes.ts';
import type { ApiContext } from '../api/api-context.ts';
import { BATCH_FILTERS } from '../api/batch-routes.ts';
import { SETTLED_FILTERS } from '../api/dead-letter-routes.ts';
import { itemListReply, orderListReply } from '../api/order-list-route.ts';
import type { Reply, Route } from '../http/route.ts';
import { link } from './parts.ts';

/** The downloads of all orders of the batches that a page lists, on all pages of the list. */
export function orderListLinks({ searchParams }: URL): Html {
  const filters = [...searchParams].filter(([name, value]) => BATCH_FILTERS.includes(name) && value !== '');
  const query = new URLSearchParams(filters).toString();
  const path = `/orders.csv${query === '' ? '' : `?${query}`}`;
  const accepted = `/orders.csv?${new URLSearchParams([...filters, ['accepted', 'true']]).toString()}`;
  const items = `/items.csv${query === '' ? '' : `?${query}`}`;
  return html`<p>Orders of all files that match, as CSV: ${link(accepted, 'accepted orders')} · ${link(items, 'accepted orders with articles and quantities')} · ${link(path, 'all orders with their outcomes')}</p>`;
}

/** The downloads of the page Batches; where one is refused, that page says why. */
export function orderListPageRoutes(api: ApiContext): Route[] {
  const lists = [
    { path: '/orders.csv', reply: orderListReply },
    { path: '/items.csv', reply: itemListReply },
  ];
  return lists.map(({ path, reply }) => ({
    method: 'GET',
    path,
    handle: ({ url }) => leadBackOnError(api, '/batches', url, () => reply(api, url)),
  }));
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
    const known = [...BATCH_FILTERS, ...SETTLED_FILTERS];
    const back = new URLSearchParams([...searchParams].filter(([name]) => known.includes(name)));
    return leadBack(`${page}?${back.toString()}`, api.notes.keep({ text, isGood: false }));
  }
}
