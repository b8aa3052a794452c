import { count, counted } from '../../core/format.ts';
import type { OrderToSend } from '../../operate/uploads/orders-to-send.ts';
import type { UploadPreview } from '../../operate/uploads/preview-upload.ts';
import { type Html, html } from '../../report/page/html.ts';
import { cell, table } from './parts.ts';

/** The orders that an upload would send, with their items, for a person who reads them before they are sent. */
export function ordersToSend({ toSend, first, new: all }: UploadPreview): Html | undefined {
  if (toSend.length === 0) return undefined;
  const rows = toSend.map((order) => [html`${order.purchaseOrderNumber}`, cell(order.line), itemList(order)]);
  const more =
    all > toSend.length
      ? html`<p>And ${counted(all - toSend.length, 'more order')}: the list has only the first ${count(toSend.length)}.</p>`
      : undefined;
  return html`<h2 id="to-send">Orders that would be sent</h2>
<p>Read the articles and quantities: a wrong article, or a zero too many, passes every check here. The API decides whether it takes an article.</p>
${table('Orders that would be sent', ['order', 'line', 'articles and quantities'], rows)}${more}
<details><summary>The first of them in the form of the API</summary><pre tabindex="0">${JSON.stringify(first)}</pre></details>`;
}

function itemList({ items, moreItems = 0 }: OrderToSend): Html {
  const all = items.map(({ articleCode, quantity }) => html`<li>${articleCode} × <b>${String(quantity)}</b></li>`);
  return html`<ul class="items">${all}${moreItems === 0 ? undefined : html`<li>and ${counted(moreItems, 'more item')}</li>`}</ul>`;
}
