import type { CheckedOrder } from '../order/checked-order.ts';
import type { DeadLetter } from '../order/dead-letter.ts';

/** The pieces of a fix file in the order they are written: opening, the records of each order, closing. */
export type FixForm = {
  opening(): Uint8Array;
  recordsOf(order: CheckedOrder, deadLetter: DeadLetter): Uint8Array;
  closing(): Uint8Array;
};
