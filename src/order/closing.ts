import type { DeadLetter } from './dead-letter.ts';

/**
 * How a dead letter was closed: `batch` brought the order that was accepted at last, or `who` put it aside.
 * With `kind`, or with `line` where there is no number, it closes that letter alone and not every one of the number.
 */
export type Closing = {
  number: string;
  at: string;
  by: string;
  batch?: string;
  who?: string;
  kind?: string;
  line?: number;
};

/** The closings of one batch, to be found by letter. */
export type Closings = ReadonlyMap<string, Closing>;

export function closingsOf(closings: readonly Closing[]): Closings {
  return new Map(closings.map((closing) => [keyOf(closing), closing]));
}

/** What closed a letter, if anything did. */
export function closingFor({ purchaseOrderNumber: number, kind, location }: DeadLetter, closings: Closings) {
  if (number === '') return closings.get(keyOf({ number, line: location.line }));
  return closings.get(keyOf({ number })) ?? closings.get(keyOf({ number, kind }));
}

function keyOf({ number, kind = '', line = 0 }: Pick<Closing, 'number' | 'kind' | 'line'>): string {
  return JSON.stringify([number, kind, line]);
}
