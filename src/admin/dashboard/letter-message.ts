import { problemText } from '../../order/record.ts';
import { type Html, html } from '../../report/page/html.ts';
import { inForm } from './fix-form.ts';

type Shown = { purchaseOrderNumber: string; field?: string; message: string; items?: string; already?: string };

/** What is wrong with one order of a list, its items, and that another file has it. */
export function messageOf({ purchaseOrderNumber, field = '', message, items, already }: Shown): Html {
  const own = items === undefined ? undefined : html`<div class="quiet">${items}</div>`;
  const other = already === undefined ? undefined : html`<div><strong>${already.replace(/^t/, 'T')}</strong></div>`;
  return html`${inForm(problemText({ field, message }), purchaseOrderNumber)}${own}${other}`;
}
