import { fileTitle } from '../order/batch.ts';
import type { SourceRecord } from '../order/record.ts';
import { shorten } from '../order/text.ts';
import type { Columns } from '../parse/columns.ts';
import type { FixSummary } from '../parse/fix-rows.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';
import { firstBeyond, isAdded, type LooseRows, placesIn, rowsBeside, rowsOf } from './order-places.ts';

/**
 * Whether records that are next to each other in a fix file were no neighbors in the batch that it corrects: its dead
 * letters say what was in doubt there.
 */
export function wereApart(rows: readonly { record: SourceRecord }[], originals: Originals): boolean {
  const { records, incomplete, doubted } = originals;
  if (doubted === undefined || rows.some(({ record }) => isOfOtherBatch(record, originals))) return false;
  const places = rows.map(({ record }) => placeNamedBy(record) ?? '');
  const doubts = places.flatMap((place) => incomplete.get(place) ?? []);
  const wereNear = doubts.some(({ kind, row = '' }) => kind === 'in-doubt' && places.includes(row));
  return !wereNear && places.every((place) => records.has(place));
}

/** Missing rows of an order that its messages name. */
const MOST_NAMED = 10;

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
  const shown = [...gone.slice(0, MOST_NAMED), ...missing.filter((place) => named?.has(place)).slice(0, 1)];
  const more = gone.length - MOST_NAMED;
  const texts = shown.map((place, at) => {
    const text = whereIs(place, originals, named);
    return at === 0 && more > 0 ? `${text} and ${more} more were in this order` : `${text} was in this order`;
  });
  // It was held for this before, and nobody added so many rows.
  let added = records.filter(isAdded).length;
  const before = new Map(
    [...places].flatMap((place) => originals.incomplete.get(place) ?? []).map((lack) => [lack.what, lack]),
  );
  for (const lack of before.values()) {
    if (lack.kind !== 'left-out' || lack.row !== undefined) continue;
    added -= 1 + lack.more;
    if (added < 0) texts.push(lack.what);
  }
  return texts;
}

/**
 * The records of an order, those that a person added as the rows that the order lacks, or may lack, where they have the
 * same article and quantity: so each of those rows becomes this order only, and needs nobody any more. Not one that came
 * back in another order.
 */
export function withAddedRows(
  records: readonly SourceRecord[],
  originals: Originals | undefined,
  { at, numbered, loose }: { at: Columns['at'] | undefined; loose: LooseRows } & Pick<Answers, 'numbered'>,
): readonly SourceRecord[] {
  if (originals === undefined || !records.some(isAdded)) return records;
  const { batch, records: known, incomplete } = originals;
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
  // Each row that is in the order now may have the next one, too.
  for (const { row, away } of rowsBeside(places, originals)) firstBeyond(row, away, { loose, isPassed: has });
  return all;
}

/** Article and quantity of a row as they were written. */
function itemOf(record: SourceRecord | undefined, at: Columns['at'] | undefined): string | undefined {
  if (record?.kind !== 'row' || at?.articleCode === undefined || at.quantity === undefined) return undefined;
  return [record.cells[at.articleCode], record.cells[at.quantity]].map((cell = '') => cell.trim()).join('\n');
}

/** A row that may belong to an order that was held for it, while nobody says where that row belongs. */
export function unansweredDoubt(
  records: readonly SourceRecord[],
  originals: Originals | undefined,
  { numbered, named, loose }: Answers & { loose: LooseRows },
): string | undefined {
  if (originals === undefined) return undefined;
  const { incomplete, open, orders } = originals;
  const places = placesIn(records, originals);
  const lacks = [...places].flatMap((place) => incomplete.get(place) ?? []);
  // Where the row is not known any more, one that a person added can be it.
  const unknown = lacks.find(({ kind, row }) => kind === 'in-doubt' && row === undefined);
  if (unknown !== undefined && !records.some(isAdded)) return unknown.what;
  const isElsewhere = (place: string) => !places.has(place) && numbered?.has(place) === true;
  const isOpen = (place: string) => !places.has(place) && (open.has(place) || orders.has(place));
  const isPassed = (place: string) => !isElsewhere(place) && !isOpen(place);
  for (const { row, away } of rowsBeside(places, originals)) {
    const at = firstBeyond(row, away, { loose, isPassed });
    if (at !== undefined && !isElsewhere(at)) return `${whereIs(at, originals, named)} waits for a person`;
  }
  return undefined;
}

/** What the fix file says of the rows of its batch. */
type Answers = { [Key in 'numbered' | 'named']: FixSummary[Key] | undefined };

/** A row of the batch in words; `named` has its place in this file if it is in it. `lackIn` reads it. */
function whereIs(place: string, originals: Originals, named: FixSummary['named'] | undefined): string {
  const record = originals.records.get(place);
  const cells = record?.kind === 'row' ? record.cells.join(', ') : (JSON.stringify(record?.value) ?? '');
  const here = named?.get(place);
  return `${place} of ${fileTitle(originals)} (${shorten(cells, 100)})${here === undefined ? '' : `, here ${here},`}`;
}
