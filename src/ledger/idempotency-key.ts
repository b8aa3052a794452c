import { createHash } from 'node:crypto';
import type { Entry } from './entry.ts';

type Keyed = Pick<Entry, 'order' | 'digest' | 'renewedAt'>;

/**
 * The idempotency key of an order's content: the same for each attempt, on each daemon and after a loss of Redis, until a
 * person has it sent anew. It has the form of a UUID (version 8, RFC 9562 5.8), which every API accepts.
 */
export function idempotencyKeyOf(
  { order, digest, renewedAt = 0 }: Keyed,
  environment: string,
): string {
  const identity = JSON.stringify([environment, order.purchaseOrderNumber, digest, renewedAt]);
  const hex = createHash('sha256').update(identity).digest('hex');
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}
