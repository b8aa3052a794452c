import { createHash } from 'node:crypto';
import { PoSyncError } from '../core/errors.ts';

/** Which order numbers a list shows: a fingerprint of each, because there may be millions. */
export type ShownNumbers = ReadonlySet<number>;

/** More would fill the memory. */
const MOST = 4_000_000;
/** Of a digest: as many as a number holds exactly. */
const BYTES = 6;

/** The fingerprint of a number, as the list spells it. */
export function fingerprintOf(number: string): number {
  return createHash('sha1').update(number).digest().readUIntBE(0, BYTES);
}

/** Adds a number that a list shows. Throws PoSyncError `list-too-large`. */
export function addShown(shown: Set<number>, number: string): void {
  shown.add(fingerprintOf(number));
  if (shown.size <= MOST) return;
  const message = `the list has more than ${MOST} orders, which is more than fits in memory`;
  throw new PoSyncError('list-too-large', message);
}

/** How many numbers of one list another one shows, too. */
export function countShared(some: ShownNumbers, others: ShownNumbers): number {
  let shared = 0;
  for (const one of some) if (others.has(one)) shared += 1;
  return shared;
}

/** As a text for Redis; `decodeShown` reads it. */
export function encodeShown(shown: ShownNumbers): string {
  const bytes = Buffer.alloc(BYTES * shown.size);
  let at = 0;
  for (const one of shown) at = bytes.writeUIntBE(one, at, BYTES);
  return bytes.toString('base64');
}

export function decodeShown(text: string): ShownNumbers {
  const shown = new Set<number>();
  const bytes = Buffer.from(text, 'base64');
  for (let at = 0; at < bytes.length; at += BYTES) shown.add(bytes.readUIntBE(at, BYTES));
  return shown;
}
