import type { Order } from './order.ts';
import type { Place } from './place.ts';
import type { Problem, SourceRecord } from './record.ts';

/**
 * All records of one order number, after mapping, grouping and checks.
 * `ordinal` counts the orders of a file from 0, always the same for the same bytes.
 */
export type CheckedOrder = ValidOrder | InvalidOrder;

type Common = {
  ordinal: number;
  /** As read, possibly faulty; "" when there is none. */
  number: string;
  /** The first record's place for a valid order, the first faulty record's for an invalid one. */
  place: Place;
  records: readonly SourceRecord[];
};

/** An order that may be sent. */
export type ValidOrder = Common & { valid: true; order: Order };

/** An order that is held back, with everything wrong in any of its records. */
export type InvalidOrder = Common & { valid: false; problems: readonly Problem[] };
