import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import type { Change } from '../order/dead-letter.ts';
import { readList } from './dead-letters.ts';

/**
 * An order of a fix file with what a person changed in it. `places`: those of its rows in `batch`, which it corrects; `at`: those
 * of the same rows in the fix file, which the reports of earlier versions do not have.
 */
export type CorrectedOrder = {
  batch: string;
  places: string[];
  at?: string[];
  number: string;
  was?: string;
  changes: Change[];
};

/** In the report of the batch that brought the corrected rows: a JSON array with one entry a line. */
export const CORRECTIONS = 'corrections.json';

/** Changes kept of one order. */
export const MOST_CHANGES = 50;

/** What the report of `later` corrected in the rows of `batch`, by their places there. */
export async function correctedPlaces(
  reports: string,
  later: string,
  batch: string,
): Promise<Map<string, CorrectedOrder>> {
  const places = new Map<string, CorrectedOrder>();
  let siblings: Map<string, CorrectedOrder> | undefined;
  for await (const one of correctionsIn(join(reports, later))) {
    if (one.batch !== batch) siblings ??= await byOrigin(join(reports, batch));
    const [own] =
      one.batch === batch
        ? []
        : one.places.flatMap((place) => siblings?.get(originKey(one.batch, place)) ?? []);
    const found = one.batch === batch ? one : own && changedSince(own, one);
    for (const place of found?.places ?? []) if (found) places.set(place, found);
  }
  return places;
}

/** The orders of a fix file, by the rows that they correct. */
async function byOrigin(folder: string): Promise<Map<string, CorrectedOrder>> {
  const found = new Map<string, CorrectedOrder>();
  for await (const one of correctionsIn(folder)) {
    if (one.at) for (const place of one.places) found.set(originKey(one.batch, place), one);
  }
  return found;
}

function originKey(batch: string, place: string): string {
  return JSON.stringify([batch, place]);
}

/**
 * What `later` changed in an order of another fix file of the same rows, such as a copy that was corrected by somebody else. The
 * values of each are known as changes of the rows that both correct.
 */
function changedSince(
  { places, at = [], changes: before }: CorrectedOrder,
  later: CorrectedOrder,
): CorrectedOrder {
  const placeOf = new Map(places.map((place, i) => [place, at[i]]));
  const keyOf = ({ place, field }: Change) => JSON.stringify([place, field]);
  const first = new Map(before.map((one) => [keyOf(one), one]));
  const changed = new Set(later.changes.map(keyOf));
  const undone = before.filter(
    (one) => one.field !== '' && later.places.includes(one.place) && !changed.has(keyOf(one)),
  );
  const changes = [
    ...later.changes.map((one) => ({ ...one, from: first.get(keyOf(one))?.to ?? one.from })),
    ...undone.map((one) => ({ ...one, from: one.to, to: one.from })),
  ].flatMap((one) => {
    const place = one.place === '' ? '' : placeOf.get(one.place);
    return place === undefined || (one.field !== '' && one.from === one.to)
      ? []
      : [{ ...one, place }];
  });
  return {
    batch: later.batch,
    places: at,
    number: later.number,
    changes: changes.slice(0, MOST_CHANGES),
  };
}

async function* correctionsIn(folder: string): AsyncGenerator<CorrectedOrder> {
  try {
    yield* readList<CorrectedOrder>(join(folder, CORRECTIONS));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
