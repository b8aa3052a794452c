import type { Lack } from '../order/dead-letter.ts';
import type { SourceRecord } from '../order/record.ts';
import { isOfOtherBatch, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';

/** The places of records in the batch that they correct. */
export function placesIn(records: readonly SourceRecord[], originals: Originals): Set<string> {
  return new Set(records.flatMap((record) => (isOfOtherBatch(record, originals) ? [] : (placeNamedBy(record) ?? []))));
}

/** The places of the rows that were one order with those at `places`, in this fix file or in an earlier one. */
export function rowsOf(places: ReadonlySet<string>, { orders, together }: Originals): string[] {
  // An order of many rows has one list for all of them.
  const lists = new Set([...places].flatMap((place) => [orders.get(place) ?? [], together.get(place) ?? []]));
  return [...new Set([...lists].flatMap((list) => [...list]))];
}

/** Whether a person added a record, without the columns that po-sync added. */
export function isAdded({ fixTarget, line }: SourceRecord): boolean {
  return fixTarget === undefined && line === undefined;
}

/**
 * The rows without an order number of a batch that is corrected, in the sequence of its file. Of several below each other,
 * as where cells were merged, each may belong to the order next to them all: one that took the first may have the next.
 */
export type LooseRows = {
  /** The next row without a number, away from the order; undefined where another row is next. */
  next(place: string, away: Away): string | undefined;
};

/** Down or up from the order. */
export type Away = 1 | -1;

/** Reads the rows without a number from the dead letters of the batch, also closed ones. */
export function looseRowsIn(originals: Pick<Originals, 'formers'> | undefined): LooseRows {
  const found = [...(originals?.formers ?? [])].flatMap(([place, { number }]) => {
    const line = lineOf(place);
    return line === undefined ? [] : [{ place, line, isLoose: number === '' }];
  });
  found.sort((one, other) => one.line - other.line);
  const at = new Map(found.map(({ place }, i) => [place, i]));
  return {
    next(place, away) {
      const index = at.get(place);
      const one = index === undefined ? undefined : found[index + away];
      return one?.isLoose ? one.place : undefined;
    },
  };
}

/** The rows that put the order with rows at `places` in doubt, with the side on which each is. */
export function rowsBeside(
  places: ReadonlySet<string>,
  { incomplete }: { incomplete: ReadonlyMap<string, readonly Lack[]> },
): { row: string; away: Away }[] {
  return [...places].flatMap((place) =>
    (incomplete.get(place) ?? []).flatMap(({ kind, row }) => {
      if (kind !== 'in-doubt' || row === undefined) return [];
      return [{ row, away: (lineOf(row) ?? 0) >= (lineOf(place) ?? 0) ? (1 as const) : (-1 as const) }];
    }),
  );
}

/** Where the order with rows at `places` ends on that side: the first row that it does not have; undefined if that is no loose row. */
export function firstBeyond(
  row: string,
  away: Away,
  { loose, isPassed }: { loose: LooseRows; isPassed: (place: string) => boolean },
): string | undefined {
  let at: string | undefined = row;
  while (at !== undefined && isPassed(at)) at = loose.next(at, away);
  return at;
}

function lineOf(place: string): number | undefined {
  const [, line] = /^line (\d{1,15})$/.exec(place) ?? [];
  return line === undefined ? undefined : Number(line);
}
