import type { Correction } from '../correct/read-as.ts';
import { endOf } from '../order/closing-text.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { isOrdered, placeText } from '../order/fixing.ts';
import type { CheckedOrder } from '../order/order.ts';
import { type CorrectedOrder, MOST_CHANGES } from './corrected-places.ts';

/** What a person changed in an order of a correction; undefined for an order of another file. */
export function correctionOf(
  order: CheckedOrder,
  correction: Correction | undefined,
): CorrectedOrder | undefined {
  const brought = order.records.filter(({ fixTarget }) => fixTarget !== undefined);
  const places = brought.flatMap(({ fixTarget }) => fixTarget?.place ?? []);
  const [first] = places;
  if (correction === undefined || first === undefined) return undefined;
  const lines = new Set(order.records.map(({ place }) => place.line));
  const changes = correction.changes.flatMap(([line, own]) => (lines.has(line) ? own : []));
  const was = new Map(correction.formers).get(first)?.number;
  return {
    batch: correction.of,
    places,
    at: brought.map(({ place }) => placeText(place)),
    number: order.number,
    ...(was === undefined || was === order.number ? {} : { was }),
    changes: changes.slice(0, MOST_CHANGES),
  };
}

/**
 * Orders that were accepted after they needed a person, their numbers, and those that rows without one got; others that were
 * ordered before, that another file sent since (`elsewhere`), or that were discarded. `own`: the batch of the report.
 */
export type Later = ReturnType<typeof noneLater>;

export function noneLater(own = '') {
  const [of, rows, files] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  return {
    own,
    orders: 0,
    of,
    rows,
    elsewhere: 0,
    discarded: 0,
    before: { same: 0, other: 0, files },
  };
}

/** Numbers kept of each kind. */
const MOST_LATER = 100_000;

/** Counts a dead letter whose order was accepted since, or was ordered before. Another file may send the same number. */
export function addLater(later: Later, letter: DeadLetter, isRow: boolean): void {
  const { closed } = letter;
  const { batch, changes, end, waitsIn, before, number } = closed ?? {};
  const last = closed && endOf(closed)?.by;
  const cameBack = waitsIn === undefined ? end : before;
  const isOwn = isRow || batch === later.own || changes !== undefined || cameBack !== undefined;
  if (last !== 'accepted' || !isOwn) {
    if (!isRow && isOrdered(letter)) later.before.other += 1;
    else if (last === 'accepted') later.elsewhere += 1;
    else if (last === 'discarded' && !isRow) later.discarded += 1;
    return;
  }
  later.orders += Number(!isRow);
  const kept = isRow ? later.rows : later.of;
  if (kept.size < MOST_LATER) kept.add(number || letter.purchaseOrderNumber);
}
