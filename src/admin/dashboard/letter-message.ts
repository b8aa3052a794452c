import { counted } from '../../core/format.ts';
import {
  inProgressRemedy,
  inProgressText,
  type OrderInProgress,
} from '../../operate/orders/in-progress.ts';
import { type Html, html } from '../../report/page/html.ts';
import { isNameless } from '../../report/story.ts';
import type { ApiContext } from '../api/api-context.ts';
import { batchPath, letterPath, link } from './parts.ts';

export const CORRECT_AS_IT_IS = 'This row is correct as it is';
export const LEAVE_OUT = 'Leave this row out of the order';

/** Leads from an order that needs nobody any more to the one below it in the list, or to the list. */
export async function nextOrder(api: ApiContext, id: string): Promise<Html> {
  const { items } = (await api.tables()).page({}, 1, id);
  const [next] = items;
  if (next === undefined) return html`<p>${link('/dead-letters', 'Orders that need you')}</p>`;
  return html`<p>The next one that needs you: ${link(letterPath(next.id), nameOf(next))}</p>`;
}

/** What the page of an order is about. */
export function nameOf(letter: Parameters<typeof isNameless>[0]): string {
  if (!isNameless(letter)) return letter.purchaseOrderNumber || 'An order without a number';
  return 'A row without an order number';
}

/** Which file has the order in progress, and how to stop it. Discarding it here would not. */
export function inProgressBox(other: OrderInProgress): Html {
  const from = link(batchPath(other.batch), other.file ?? other.batch);
  return html`<div class="box" role="status">${inProgressText(other)}. ${inProgressRemedy(other)} ${from}</div>`;
}

/** Uploaded files whose preview nobody confirmed: their orders are in no list. */
export function unsentNote({ uploads }: Pick<ApiContext, 'uploads'>): Html | undefined {
  const waiting = uploads
    .list()
    .filter(({ state, preview }) => state === 'ready' && preview?.records !== 0);
  const [one] = waiting;
  if (one === undefined) return undefined;
  const [was, it] = waiting.length === 1 ? ['was', 'it'] : ['were', 'each'];
  const to =
    waiting.length === 1 ? link(`/upload/${one.id}`, one.name) : link('/upload', 'Show them');
  return html`<p class="box doubt" role="status">${counted(waiting.length, 'uploaded file')} ${was} not sent yet: ${to}. po-sync removes ${it} an hour after the upload.</p>`;
}
