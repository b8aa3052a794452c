import { digestOf } from './digest.ts';
import { correctedBy, type Former, idOf, type LetterRef } from './letter-id.ts';
import { type CheckedOrder, itemsIn, type Order } from './order.ts';
import type { DeadLetterKind } from './outcome.ts';
import type { Problem } from './problem.ts';
import type { Sentence } from './sentence.ts';

/**
 * A row of a dead letter as it was read, by the names of its columns. `row` counts from 1. `value`: the object that begins
 * with this row, at `pointer`.
 */
export type LetterRow = {
  row: number;
  line: number;
  pointer?: string;
  cells: Readonly<Record<string, string>>;
  value?: unknown;
};

/** One entry of `dead-letters.json`. `id`: that of its batch and the ordinal of its order. `from`: those that became it. */
export type DeadLetter = {
  id: string;
  revision: number;
  from?: readonly Former[];
  rows?: readonly LetterRow[];
  purchaseOrderNumber: string;
  kind: DeadLetterKind;
  code: string;
  /** `message` is made from code and facts, which programs use. */
  facts?: object;
  message: Sentence;
  problems?: Problem[];
  httpStatus?: number;
  /** The API's answer as text, shortened. */
  response?: string;
  /** Equal for errors of the same kind. */
  signature: string;
  attempts: number;
  firstAt: string;
  lastAt: string;
  location: { line: number; lines?: number[]; pointer?: string };
  payload?: unknown;
  /** A conflict's other content: the order with the same number that is known already. */
  known?: Order;
  closed?: Closed;
};

/** How many dead letters are taken, discarded, unchanged and outdated, and how many cells were restored. */
export type CorrectionCounts = {
  taken: number;
  restored: number;
  discarded: number;
  unchanged: number;
  outdated: number;
};

/** Who or what closed a dead letter. */
export type End = {
  at: string;
  by: string;
  batch?: string;
  /** The person who closed it, or who submitted the file of `batch` at the admin port. */
  who?: string;
};

/** `successor`: the dead letter that replaced it. */
export type Closed = End & { successor?: string };

/** `by` of a dead letter whose order needs a person in another one. */
export const REPLACED = 'replaced';

/** How a dead letter of a number was closed: `batch` brought the order that was accepted, or the person `who` closed it. */
export type Closing = Closed & { number: string };

/** The closings of one batch, by the id of the dead letter. */
export type Closings = ReadonlyMap<string, Closing>;

/** Who or what closed it, without the dead letter that it closed. */
export function closedBy(closing: Closing): Closed {
  const { number: _, ...closed } = closing;
  return closed;
}

/** The location of an order: its first record or first record with a problem, and all its lines if it has several. */
export function locationOf(order: CheckedOrder): DeadLetter['location'] {
  const { line, pointer } = order.place;
  const lines = order.records.map((record) => record.place.line);
  return {
    line,
    ...(lines.length > 1 ? { lines } : {}),
    ...(pointer === undefined ? {} : { pointer }),
  };
}

/** The line of its first error, as `check` names it: an order of JSON begins above it. Without one, that of its order. */
export function errorLine({
  location,
  problems,
}: Pick<DeadLetter, 'location' | 'problems'>): number {
  return problems?.[0]?.line ?? location.line;
}

/** The beginning of the dead letter of an order: its id, and the life before it. */
export function lifeOf(batch: string, { ordinal, records }: CheckedOrder) {
  const from = correctedBy(records);
  return {
    id: idOf(batch, ordinal),
    revision: 1 + Math.max(0, ...from.map(({ revision }) => revision)),
    ...(from.length > 0 && { from: from.flatMap(formersOf) }),
  };
}

/** A dead letter as one that is corrected. */
export function refOf(letter: DeadLetter): LetterRef {
  const { id, purchaseOrderNumber: number, payload, revision, from } = letter;
  const items = itemsIn(payload);
  const content = items.length === 0 ? '' : digestOf({ items });
  return { id, number, content, revision, ...(from && { before: from }) };
}

function formersOf({ id, number, content, before = [] }: LetterRef): Former[] {
  return [{ id, number, content }, ...before];
}
