import { PoSyncError } from '../../core/errors.ts';
import { type Html, html } from '../../report/page/html.ts';
import { placeOf } from '../../views/next-step.ts';
import { orderView } from '../../views/order.ts';
import { readHistory } from '../api/read-letters.ts';
import type { Content, PageRequest } from './frame.ts';
import { badge, filterForm, link, textField } from './parts.ts';
import { stateBadge, viewPart } from './view-part.ts';

/** The history of one order: where it came from, every attempt, its outcome, what people did. */
export async function orderPage({ api, url }: PageRequest): Promise<Content> {
  const form = filterForm(
    url,
    '/order',
    [textField(url, 'number', 'Order number')],
    'Show history',
  );
  if (!url.searchParams.get('number'))
    return { title: 'Order', body: html`<h1>Order</h1>${form}${ARTICLES}` };
  const history = await readHistory(api, url).catch(notFound);
  if (history instanceof PoSyncError) return missingOrder(history, form);
  const place = { now: api.base.store.time.now(), ...placeOf(api.base.config) };
  const { title, state, blocks } = orderView(history, place);
  const accepted =
    history.accepted &&
    html`<p>The API cannot change an accepted order. If it is wrong, agree on the change with the supplier.</p>`;
  const body = html`<h1>${title}</h1>
${form}
<p>${stateBadge(state)}</p>
${viewPart(blocks, title)}${accepted}`;
  return { title, body };
}

/** That no history has an order, or that it is in a file which is not read to it yet. */
function notFound(error: unknown): PoSyncError {
  if (error instanceof PoSyncError && error.code === 'order-unknown') return error;
  throw error;
}

/** With the field to search again: a number that is not found is often misspelled. */
function missingOrder({ message, remedy, facts: { order } }: PoSyncError, form: Html): Content {
  const body = html`<h1>${String(order)}</h1>
${form}
<p>${badge('doubt', 'not found')}</p>
<p role="alert">${message} ${remedy}</p>`;
  return { title: String(order), body, status: 404 };
}

const ARTICLES = html`<p>Only order numbers are searched, not articles. The page ${link('/dead-letters', 'Orders that need you')} is also searched by article.</p>`;
