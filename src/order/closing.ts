import type { DeadLetter } from './dead-letter.ts';
import { placeText } from './fixing.ts';

/**
 * How a dead letter was closed: `batch` brought the order that was accepted at last, or `who` put it aside.
 * With `kind`, or with `place` where there is no number, it closes that letter alone and not every one of the number.
 */
export type Closing = {
  number: string;
  at: string;
  by: string;
  batch?: string;
  who?: string;
  kind?: string;
  place?: string;
};

/** The closings of one batch, to be found by letter. */
export type Closings = ReadonlyMap<string, Closing>;

export function closingsOf(closings: readonly Closing[]): Closings {
  return new Map(closings.map((closing) => [keyOf(closing), closing]));
}

/** What closed a letter, if anything did. */
export function closingFor({ purchaseOrderNumber: number, kind, location }: DeadLetter, closings: Closings) {
  if (number === '') return closings.get(keyOf({ number, place: placeText(location) }));
  return closings.get(keyOf({ number })) ?? closings.get(keyOf({ number, kind }));
}

function keyOf({ number, kind = '', place = '' }: Pick<Closing, 'number' | 'kind' | 'place'>): string {
  return JSON.stringify([number, kind, place]);
}
