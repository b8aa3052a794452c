import { isDeepStrictEqual } from 'node:util';
import { errorColumnOf } from '../order/fixing.ts';
import type { Place, SourceRecord } from '../order/record.ts';
import { shorten } from '../order/text.ts';
import type { Columns } from '../parse/columns.ts';
import type { FixSummary } from '../parse/fix-rows.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';

/**
 * Whether records that are next to each other in a fix file were no neighbors in the batch that it corrects: its dead
 * letters say what was in doubt there.
 */
export function wereApart(rows: readonly { record: SourceRecord }[], originals: Originals): boolean {
  const { records, incomplete, doubted } = originals;
  if (doubted === undefined || rows.some(({ record }) => isOfOtherBatch(record, originals))) return false;
  const places = rows.map(({ record }) => placeNamedBy(record) ?? '');
  const doubts = places.flatMap((place) => incomplete.get(place) ?? []);
  const wereNear = doubts.some((lack) => lack.kind === 'in-doubt' && places.includes(lack.row ?? ''));
  return !wereNear && places.every((place) => records.has(place));
}

/** A row of a fix file that names the same row as an earlier one of the order, or another batch: two copies were joined. */
export function correctedTwice(records: readonly SourceRecord[]): { place: Place; first: Place } | undefined {
  if (!records.some(({ fixTarget, line }) => fixTarget !== undefined || line !== undefined)) return undefined;
  const known = new Map<string, Place>();
  let named: { batch: string; place: Place } | undefined;
  for (const { kind, place, line, fixTarget } of records) {
    if (fixTarget !== undefined && named !== undefined && named.batch !== fixTarget.batch)
      return { place, first: named.place };
    if (fixTarget !== undefined) named ??= { batch: fixTarget.batch, place };
    const from = placeNamedBy({ kind, ...(fixTarget && { fixTarget }), ...(line !== undefined && { line }) });
    if (from === undefined) continue;
    const first = known.get(from);
    if (first !== undefined) return { place, first };
    known.set(from, place);
  }
  return undefined;
}

/** A row that was in the fix file with rows of this order, and is not in it now, if nobody confirmed that. */
export function missingRow(records: readonly SourceRecord[], originals: Originals | undefined): string | undefined {
  if (originals === undefined) return undefined;
  if (records.every(({ isConfirmed }) => isConfirmed)) return undefined;
  const own = records.filter((record) => !isOfOtherBatch(record, originals));
  const places = new Set(own.map(placeNamedBy));
  for (const place of places) {
    const missing = place === undefined ? undefined : originals.orders.get(place)?.find((one) => !places.has(one));
    if (missing !== undefined)
      return `${missing} of batch ${originals.batch} (${shownRow(missing, originals)}) was in this order`;
    // It was held for this before, and nobody added a row.
    const lacks = place === undefined || places.has(undefined) ? undefined : originals.incomplete.get(place);
    if (lacks?.kind === 'left-out') return lacks.what;
  }
  return undefined;
}

/**
 * The records of an order, one that a person added as the row that the order was held for, where it has the same article
 * and quantity: so that row becomes this order only, and needs nobody any more.
 */
export function withAddedRow(
  records: readonly SourceRecord[],
  originals: Originals | undefined,
  at: Columns['at'] | undefined,
): readonly SourceRecord[] {
  const isAdded = (record: SourceRecord) => record.fixTarget === undefined && record.line === undefined;
  if (originals === undefined || !records.some(isAdded)) return records;
  const lacks = records.map((record) => originals.incomplete.get(placeNamedBy(record) ?? ''));
  const place = lacks.find((lack) => lack?.kind === 'in-doubt')?.row;
  const was = place === undefined ? undefined : itemOf(originals.records.get(place), originals.at);
  const added = records.findIndex((record) => isAdded(record) && was !== undefined && itemOf(record, at) === was);
  const found = records[added];
  if (found === undefined || place === undefined) return records;
  return records.with(added, { ...found, fixTarget: { batch: originals.batch, place } });
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
  summary: FixSummary | undefined,
): string | undefined {
  const places = new Set(records.filter((record) => !isOfOtherBatch(record, originals)).map(placeNamedBy));
  if (originals === undefined) return undefined;
  const { incomplete, open, orders, batch } = originals;
  for (const place of places) {
    const lack = incomplete.get(place ?? '');
    if (lack?.kind !== 'in-doubt') continue;
    const { row, what } = lack;
    // Where the row is not known any more, one that a person added can be it.
    if (row === undefined && !places.has(undefined)) return what;
    if (row === undefined) continue;
    const isAnswered = places.has(row) || summary?.numbered.has(row) || !(open.has(row) || orders.has(row));
    if (!isAnswered) return `${row} of batch ${batch} (${shownRow(row, originals)}) waits for a person`;
  }
  return undefined;
}

/** The same of an order that is one object, where nothing in it was changed. */
export function unansweredTwin(record: SourceRecord, originals: Originals | undefined): string | undefined {
  if (originals === undefined || isOfOtherBatch(record, originals)) return undefined;
  const place = placeNamedBy(record) ?? '';
  const lack = originals.incomplete.get(place);
  const [now, was] = [record, originals.records.get(place)].map((one) =>
    one?.kind === 'object' ? ownOf(one.value) : one,
  );
  return lack?.kind === 'in-doubt' && isDeepStrictEqual(now, was) ? lack.what : undefined;
}

/** An object without the keys that a fix file adds. */
function ownOf(value: unknown): [string, unknown][] {
  return Object.entries(value ?? {}).filter(([key]) => errorColumnOf(key) === undefined);
}

function shownRow(place: string, { records }: Originals): string {
  const record = records.get(place);
  return shorten(record?.kind === 'row' ? record.cells.join(', ') : (JSON.stringify(record?.value) ?? ''), 100);
}
