import type { CheckedOrder } from './checked-order.ts';
import type { DeadLetter } from './dead-letter.ts';

/** Where an order stands: its first (or first faulty) record, and all its lines when it has several. */
export function locationOf(order: CheckedOrder): DeadLetter['location'] {
  const { line, pointer } = order.place;
  const lines = order.records.map((record) => record.place.line);
  return { line, ...(lines.length > 1 ? { lines } : {}), ...(pointer === undefined ? {} : { pointer }) };
}
