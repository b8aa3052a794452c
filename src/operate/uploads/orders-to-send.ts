import { LIMITS } from '../../order/limits.ts';
import type { Item, Order } from '../../order/order.ts';
import { shorten } from '../../order/text.ts';

/** An order that would be sent, and the line of its first row. `moreItems`: how many are not listed. */
export type OrderToSend = { purchaseOrderNumber: string; line: number; items: Item[]; moreItems?: number };

/** Orders and items that a preview lists, and the items of one order; previews stay in memory. */
const ORDERS = 200;
const ITEMS = 2_000;
const ITEMS_OF_ORDER = 100;

/** Collects the first orders that would be sent, for a person who reads them before they are sent. */
export function createSendList(): { listed: OrderToSend[]; add(order: Order, line: number): void } {
  const listed: OrderToSend[] = [];
  let count = 0;
  return {
    listed,
    add({ purchaseOrderNumber, items }, line) {
      if (listed.length === ORDERS || count >= ITEMS) return;
      // Codes have no limit at some APIs.
      const first = items.slice(0, ITEMS_OF_ORDER).map(({ articleCode, quantity }) => {
        return { articleCode: shorten(articleCode, LIMITS.textLength), quantity };
      });
      const more = items.length - first.length;
      listed.push({ purchaseOrderNumber, line, items: first, ...(more > 0 ? { moreItems: more } : {}) });
      count += first.length;
    },
  };
}
