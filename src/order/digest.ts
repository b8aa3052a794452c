import { createHash } from 'node:crypto';
import { type Item, NEW } from './order.ts';
import type { SourceRecord } from './record.ts';

/**
 * Digest of an order's content: equal for the same items in any sequence, however often an item repeats.
 * 96 bits as 16 URL-safe characters, because only orders with the same number are compared.
 */
export function digestOf(order: { items: readonly Item[] }): string {
  const lines = order.items.map(lineOf).sort();
  return createHash('sha256')
    .update(JSON.stringify([NEW, lines]))
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

/** FNV-1a over UTF-16 units with a final mix (MurmurHash3), so that consecutive numbers spread. */
export function textHash(text: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
