import type { Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createRowClaims, mayHaveOwner } from '../ledger/row-claims.ts';
import {
  type BroughtBy,
  type Change,
  type Closed,
  type Closings,
  type Corrected,
  closedBy,
  closingFor,
  type DeadLetter,
  placesOf,
} from '../order/dead-letter.ts';
import type { Store } from '../redis/store.ts';
import { type CorrectedOrder, correctedPlaces, MOST_CHANGES } from './corrected-places.ts';
import { pages } from './lines.ts';

/** What later batches say about the dead letters of one: the batch that brought rows back, and the place of each row. */
export type Corrections = ReadonlyMap<string, ReadonlyMap<string, CorrectedOrder>>;

/**
 * Reads what the reports of `later` batches corrected in the dead letters of `batch`. A report that cannot be read says nothing:
 * one that is damaged stays so, and the report of `batch` would wait for it.
 */
export async function readCorrections(
  reports: string,
  batch: string,
  later: Iterable<string>,
): Promise<Corrections> {
  const found = new Map<string, Map<string, CorrectedOrder>>();
  for (const name of new Set(later)) {
    const places = await correctedPlaces(reports, name, batch).catch(() => undefined);
    if (places && places.size > 0) found.set(name, places);
  }
  return found;
}

/** An entry that is closed already is closed again: its rows may have waited in another batch. */
export function withClosing(
  deadLetter: DeadLetter,
  closings: Closings,
  corrections: Corrections,
): DeadLetter {
  const closing = closingFor(deadLetter, closings);
  if (closing === undefined) return deadLetter;
  const closed = closedBy(closing);
  return { ...deadLetter, closed: { ...closed, ...correctedIn(deadLetter, closed, corrections) } };
}

/** What was corrected in a dead letter that `closed` closes. What an older report said stays when its source expired. */
export function correctedIn(
  letter: DeadLetter,
  closed: Closed,
  corrections: Corrections,
): Corrected {
  const { batch } = closed;
  const rows = batch === undefined ? undefined : corrections.get(batch);
  const orders = new Set(placesOf(letter).flatMap((place) => rows?.get(place) ?? []));
  if (orders.size === 0) return keptFrom(letter.closed, batch);
  // A row that left its order came back as another order: it was not removed.
  const isTrue = ({ place, field }: Change) => field !== '' || !rows?.has(place);
  const changes = [...orders].flatMap((one) => one.changes.filter(isTrue)).slice(0, MOST_CHANGES);
  const number = [...orders]
    .map((one) => one.number)
    .find((one) => one !== letter.purchaseOrderNumber);
  return { changes, ...(number === undefined ? {} : { number }) };
}

function keptFrom(before: DeadLetter['closed'], batch: string | undefined): Corrected {
  if (before === undefined || before.batch !== batch) return {};
  const { changes, number } = before;
  return {
    ...(changes === undefined ? {} : { changes }),
    ...(number === undefined ? {} : { number }),
  };
}

type BroughtDeps = {
  store: Pick<Store, 'redis' | 'keys'>;
  ledger: Pick<Ledger, 'lookup'>;
  batches: Pick<Batches, 'underWay'>;
};

/**
 * Builds the search for the file in progress that brings rows of an open dead letter of `own` back as an order, which is sent or
 * waits. When that file is finished, it closes the dead letter.
 */
export async function findBroughtBy(own: string, { store, ledger, batches }: BroughtDeps) {
  const { ownerOf } = createRowClaims({ ...store, ledger });
  const underWay = new Map((await batches.underWay()).map(({ batch, name }) => [batch, name]));
  underWay.delete(own);
  const isPossible = underWay.size === 0 ? () => false : await mayHaveOwner(own, store);
  return async (letter: DeadLetter): Promise<BroughtBy | undefined> => {
    for (const place of letter.closed === undefined ? placesOf(letter).filter(isPossible) : []) {
      const { batch = '', number = '' } = (await ownerOf({ batch: own, place })) ?? {};
      const file = underWay.get(batch);
      if (file !== undefined) return { batch, file, number };
    }
    return undefined;
  };
}

type Brought = (letter: DeadLetter) => Promise<BroughtBy | undefined>;
type Closer = (letter: DeadLetter) => DeadLetter;

/** Dead letters before and now, with the file in progress that brought each back: asked together, or other reports would wait. */
export async function* asTheyAre(
  letters: AsyncIterable<DeadLetter>,
  close: Closer,
  brought?: Brought,
) {
  for await (const page of pages(letters, 500)) {
    const known = page.map((before) => ({ before, now: close(before) }));
    yield* await Promise.all(known.map(async (one) => ({ ...one, by: await brought?.(one.now) })));
  }
}
