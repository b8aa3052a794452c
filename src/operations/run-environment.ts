import { iso } from '../core/format.ts';
import { type Status, statusJson } from '../operate/delivery/read-status.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import { explainOrder, historyJson, type OrderHistory } from '../operate/orders/explain-order.ts';
import { readContent } from '../operate/orders/order-content.ts';
import type { Item } from '../order/order.ts';
import type { Work } from './operation.ts';

type Seen = { status: Status; awaySince?: number };

/** The status, as the pages of the dashboard have it too. */
export function seenJson({ status, awaySince }: Seen) {
  return { ...statusJson(status), ...(awaySince && { redisAwaySince: iso(awaySince) }) };
}

export const seen: Work<object, Seen> = { run: (_, { status }) => status(), json: seenJson };

/** What the API's list has of an order now; `trouble`: why it could not be read. `items` may be left out by the list. */
export type AtApi = { trouble: string } | { listed: boolean; items?: Item[] };

type Explained = { history: OrderHistory; atApi?: AtApi };

export const explained: Work<{ order: string; list: boolean }, Explained> = {
  async run({ order, list }, context) {
    const reports = (await context.reportsOf?.(order)) ?? 'all';
    const found = await explainOrder(order, context, context.search, reports);
    const content = await readContent(found, context);
    const history = content === undefined ? found : { ...found, content };
    return { history, ...(list && { atApi: await readListed(order, context) }) };
  },
  json: ({ history, atApi }) => ({ ...historyJson(history), ...(atApi && { atApi }) }),
};

async function readListed(order: string, { checkList }: OperationContext): Promise<AtApi> {
  const { listed, trouble = 'it ended too early' } = await checkList(new Set([order]));
  if (listed === undefined) return { trouble };
  const { items } = listed.get(order) ?? {};
  return { listed: listed.has(order), ...(items && { items }) };
}
