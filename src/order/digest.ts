import { createHash } from 'node:crypto';
import type { Item, Order } from './order.ts';
import { PURCHASE_ORDER } from './purchase-order.ts';
import type { SourceRecord } from './record.ts';

/**
 * Digest of an order's content: equal for the same items in any sequence, however often an item repeats.
 * 96 bits as 16 URL-safe characters, because only orders with the same number are compared.
 */
export function digestOf(order: Pick<Order, 'items'>): string {
  const lines = order.items.map(lineOf).sort();
  return createHash('sha256')
    .update(JSON.stringify([PURCHASE_ORDER.state, lines]))
    .digest('base64url')
    .slice(0, 16);
}

/** Digest of the records of an invalid order as they are in the file. */
export function fingerprintOf(records: readonly SourceRecord[]): string {
  const content = records.map((record) => (record.kind === 'row' ? record.cells : record.value));
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 16);
}

function lineOf(item: Item): string {
  return JSON.stringify([item.articleCode, item.quantity]);
}
