import { createHash } from 'node:crypto';
import type { Item, Order } from './order.ts';
import type { SourceRecord } from './record.ts';

/**
 * A short name for an order's content: equal for the same state and the same items in any order, however often
 * an item repeats. 96 bits as 16 URL-safe characters: only ever compared between orders of one number.
 */
export function digestOf(order: Pick<Order, 'orderState' | 'items'>): string {
  const lines = order.items.map(lineOf).sort();
  return createHash('sha256')
    .update(JSON.stringify([order.orderState, lines]))
    .digest('base64url')
    .slice(0, 16);
}

/** A short name for records as they stand in a file, for orders that are not fit to be one. */
export function fingerprintOf(records: readonly SourceRecord[]): string {
  const content = records.map((record) => (record.kind === 'row' ? record.cells : record.value));
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 16);
}

function lineOf(item: Item): string {
  return JSON.stringify([item.articleCode, item.quantity]);
}
