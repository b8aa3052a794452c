import { byArticle, type Item, itemsIn } from '../../order/order.ts';
import { type Html, html } from '../../report/page/html.ts';
import { NUMBER_IN_PROGRESS, NUMBER_TAKEN } from '../../wording/problem.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { FullLetter } from '../api/read-letters.ts';
import { table } from './parts.ts';

/** The items of the order, and of a conflict those that the API has. */
export async function itemsOfBoth(
  letter: FullLetter,
  { base }: ApiContext,
  isInProgress: boolean,
): Promise<Html | undefined> {
  const { payload, known } = letter;
  // Those of a file stay in its order, except to be compared with others.
  const own = known === undefined ? itemsIn(payload) : byArticle(itemsIn(payload));
  if (own.length === 0) return undefined;
  const other =
    known === undefined
      ? undefined
      : html`<h2>Items that are already known, sorted by article</h2>${items('Known items', byArticle(itemsIn(known)))}<p>${isInProgress ? NUMBER_IN_PROGRESS : await adviceFor(letter, base)}</p>`;
  return html`<h2>Items${known === undefined ? '' : ' in this file, sorted by article'}</h2>${items('Items', own)}${other}`;
}

const FREE =
  'The other order with this number was cancelled or discarded: po-sync did not send it. If this one is wanted, drop its fix file as it is. If it is not, discard it.';

/** The order that the letter was compared with may have been withdrawn since: then its number can be sent. */
async function adviceFor(
  { purchaseOrderNumber, kind }: FullLetter,
  { ledger }: ApiContext['base'],
): Promise<string> {
  const [now] = kind === 'conflict' ? await ledger.lookup([purchaseOrderNumber]) : [];
  return now?.kind === 'nothing' ? FREE : NUMBER_TAKEN;
}

const ITEMS = 200;

function items(caption: string, all: readonly Item[]): Html {
  const rows = all
    .slice(0, ITEMS)
    .map(({ articleCode, quantity }) => [html`${articleCode}`, html`${String(quantity)}`]);
  const more = all.length > ITEMS ? html`<p>${all.length - ITEMS} more items</p>` : undefined;
  return html`${table(caption, ['article', 'quantity'], rows)}${more}`;
}
