import type { DeadLetter } from './dead-letter.ts';
import { placeText } from './fixing.ts';

/** `BATCH~line 7`, `BATCH~/orders/3`, or with the number while the place is not known: `BATCH~#PO-1`. */
export function idOf(
  batch: string,
  { location, purchaseOrderNumber }: Pick<DeadLetter, 'location' | 'purchaseOrderNumber'>,
) {
  return `${batch}~${location.line === 0 ? `#${purchaseOrderNumber}` : placeText(location)}`;
}

/** All ids that name a dead letter, also the one from before its place was known. */
export function idsOf(
  letter: Pick<DeadLetter, 'id' | 'location' | 'purchaseOrderNumber'> & { batch: string },
): string[] {
  const { id, batch, purchaseOrderNumber: number } = letter;
  const former = number === '' ? [] : [`${batch}~#${number}`];
  return [...(id === undefined ? [] : [id]), idOf(batch, letter), ...former];
}

/** The batch and the place of an id. */
export function splitId(id: string): [batch: string, place: string] {
  const at = id.indexOf('~');
  return at < 0 ? [id, ''] : [id.slice(0, at), id.slice(at + 1)];
}

/** The order number of an id from before the place was known; undefined of every other id, and without a number. */
export function numberIn(id: string): string | undefined {
  const [, place] = splitId(id);
  return place.startsWith('#') && place.length > 1 ? place.slice(1) : undefined;
}
