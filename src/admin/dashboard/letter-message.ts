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
