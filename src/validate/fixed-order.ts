import { isAdded, isRowAt, type SourceRecord } from '../order/record.ts';
import type { Columns } from '../parse/columns.ts';
import type { FixSummary } from '../parse/fix-rows.ts';
import { isOfOtherBatch, type Originals, placeNamedBy, placesIn } from '../parse/read-fix-file.ts';
import {
  type Answers,
  hasItem,
  itemOf,
  type LooseRows,
  MOST_NAMED,
  rowsBeside,
  whereIs,
} from './order-places.ts';

/**
 * Whether records that are next to each other in a fix file were no neighbors in the batch that it corrects: its dead
 * letters say what was in doubt there.
 */
export function wereApart(
  upper: readonly { record: SourceRecord }[],
  lower: readonly { record: SourceRecord }[],
  { originals, loose }: { originals: Originals; loose: LooseRows },
): boolean {
  const { records, incomplete, doubted } = originals;
  const rows = [...upper, ...lower];
  if (doubted === undefined || rows.some(({ record }) => isOfOtherBatch(record, originals)))
    return false;
  const places = rows.map(({ record }) => placeNamedBy(record) ?? '');
  const doubts = places.flatMap((place) => incomplete.get(place) ?? []);
  const areLoose = loose.next(places[upper.length - 1] ?? '', 1) === (places[upper.length] ?? '');
  const wereNear =
    areLoose || doubts.some(({ kind, row = '' }) => kind === 'in-doubt' && places.includes(row));
  return !wereNear && places.every((place) => records.has(place));
}

/**
 * The rows that were in the fix file with rows of this order, and are not in it now, if nobody confirmed that. `named`:
 * where the rows of the file are now.
 */
export function missingRows(
  records: readonly SourceRecord[],
  originals: Originals | undefined,
  named: FixSummary['named'] | undefined,
): string[] {
  if (originals === undefined || records.every(({ isConfirmed }) => isConfirmed)) return [];
  const places = placesIn(records, originals);
  const missing = rowsOf(places, originals).filter((place) => !places.has(place));
  const gone = missing.filter((place) => named?.has(place) !== true);
  // Of those in this file, each order names the first: so the one with that row knows of all the others.
  const shown = [
    ...gone.slice(0, MOST_NAMED),
    ...missing.filter((place) => named?.has(place)).slice(0, 1),
  ];
  const more = gone.length - MOST_NAMED;
  const texts = shown.map((place, at) => {
    const text = whereIs(place, originals, named);
    return at === 0 && more > 0
      ? `${text} and ${more} more were in this order`
      : `${text} was in this order`;
  });
  // It was held for this before, and nobody added so many rows.
  let added = records.filter(isAdded).length;
  const before = new Map(
    [...places]
      .flatMap((place) => originals.incomplete.get(place) ?? [])
      .map((lack) => [lack.what, lack]),
  );
  for (const lack of before.values()) {
    if (lack.kind !== 'left-out' || lack.row !== undefined) continue;
    added -= 1 + lack.more;
    if (added < 0) texts.push(lack.what);
  }
  return texts;
}

/** The places of the rows that were one order with those at `places`, in this fix file or in an earlier one. */
function rowsOf(places: ReadonlySet<string>, { orders, together }: Originals): string[] {
  // An order of many rows has one list for all of them.
  const lists = new Set(
    [...places].flatMap((place) => [orders.get(place) ?? [], together.get(place) ?? []]),
  );
  return [...new Set([...lists].flatMap((list) => [...list]))];
}

/**
 * The records of an order, those that a person added as the rows that the order lacks, or may lack, where they have the
 * same article and quantity: so each of those rows becomes this order only, and needs nobody any more. Not one that came
 * back in another order.
 */
export function withAddedRows(
  records: readonly SourceRecord[],
  originals: Originals | undefined,
  {
    at,
    numbered,
    loose,
  }: { at: Columns['at'] | undefined; loose: LooseRows } & Pick<Answers, 'numbered'>,
): readonly SourceRecord[] {
  if (originals === undefined || !records.some(isAdded)) return records;
  const { batch, records: known, incomplete, open, orders } = originals;
  const places = placesIn(records, originals);
  const lacks = [...places].flatMap((place) => incomplete.get(place) ?? []);
  const wanted = new Set([...rowsOf(places, originals), ...lacks.flatMap(({ row }) => row ?? [])]);
  const all = [...records];
  const inOrder = new Set(places);
  /** Whether the order has the row at `place`. An added row with its article and quantity becomes that row. */
  function has(place: string): boolean {
    const was = itemOf(known.get(place), originals?.at);
    if (inOrder.has(place) || numbered?.has(place) || was === undefined) return inOrder.has(place);
    const index = all.findIndex((record) => isAdded(record) && itemOf(record, at) === was);
    const found = all[index];
    if (found === undefined) return false;
    all[index] = { ...found, fixTarget: { batch, place }, isAdded: true };
    inOrder.add(place);
    return true;
  }
  for (const place of wanted) has(place);
  // Each row that is in the order now may have the next one, too. One that nobody has to decide on is between them.
  const isOver = (place: string) =>
    numbered?.has(place) !== true && !open.has(place) && !orders.has(place);
  const isPassed = (place: string) => has(place) || isOver(place);
  for (const { row, away } of rowsBeside(places, { incomplete, loose, numbered })) {
    let next: string | undefined = row;
    while (next !== undefined && isPassed(next)) next = loose.next(next, away);
  }
  // One that was left out of a fix file is still open in the batch that has it.
  for (const lack of lacks) {
    const { from } = lack;
    const isThere = all.some((record) => isRowAt(from, record));
    const index = isThere ? -1 : all.findIndex((one) => isAdded(one) && hasItem(lack, one, at));
    const found = all[index];
    if (found !== undefined && from) all[index] = { ...found, fixTarget: from, isAdded: true };
  }
  return all;
}
