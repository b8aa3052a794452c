import { createReadStream } from 'node:fs';
import path from 'node:path';
import { fileTitle } from '../order/batch.ts';
import type { DeadLetter, Lack } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import { comparePlaces, isAdded, isRowAt, type SourceRecord } from '../order/record.ts';
import { shorten } from '../order/text.ts';
import type { Columns } from '../parse/columns.ts';
import type { FixSummary } from '../parse/fix-rows.ts';
import { createJsonParser } from '../parse/json/json-records.ts';
import { type Originals, placesIn } from '../parse/read-fix-file.ts';

/**
 * The rows without an order number of a batch that is corrected, in the sequence of its file. Of several below each other,
 * as where cells were merged, each may belong to the order next to them all: one that took the first may have the next.
 */
export type LooseRows = {
  /** Whether the row at `place` had no number. */
  has(place: string): boolean;
  /** The next row without a number, away from the order; undefined where another row is next. */
  next(place: string, away: Away): string | undefined;
};

/** Down or up from the order. */
export type Away = 1 | -1;

/** Reads the rows without a number from the dead letters of the batch, also closed ones. */
export function looseRowsIn(originals: Pick<Originals, 'formers'> | undefined): LooseRows {
  const found = [...(originals?.formers ?? [])].map(([place, { number }]) => ({
    place,
    isLoose: number === '',
  }));
  found.sort((one, other) => comparePlaces(one.place, other.place));
  const at = new Map(found.map(({ place }, i) => [place, i]));
  const looseAt = (index: number | undefined) =>
    index !== undefined && found[index]?.isLoose ? found[index].place : undefined;
  return {
    has: (place) => looseAt(at.get(place)) !== undefined,
    next(place, away) {
      const index = at.get(place);
      return looseAt(index === undefined ? undefined : index + away);
    },
  };
}

/**
 * The rows that may belong to the order with rows at `places`, each with the side on which it is: those that put the order
 * in doubt, and those beside its own rows that had no number.
 */
export function rowsBeside(
  places: ReadonlySet<string>,
  {
    incomplete,
    loose,
    numbered,
  }: Pick<Originals, 'incomplete'> & Pick<Answers, 'numbered'> & { loose: LooseRows },
): { row: string; away: Away }[] {
  const isOwn = (one = '') => places.has(one) && loose.has(one) && numbered?.has(one);
  const all = [...places].flatMap((place) => {
    const lacks = incomplete.get(place) ?? [];
    const inDoubt = lacks.flatMap(({ kind, row }) =>
      kind === 'in-doubt' && row !== undefined ? row : [],
    );
    const rows = inDoubt.map((row) => ({
      row,
      away: comparePlaces(row, place) < 0 ? (-1 as const) : (1 as const),
    }));
    const ends = ([1, -1] as const).filter(
      (away) => isOwn(place) && !isOwn(loose.next(place, away)),
    );
    return [...rows, ...ends.map((away) => ({ row: place, away }))];
  });
  // An order of many rows has one of them for all.
  return [...new Map(all.map((one) => [`${one.away} ${one.row}`, one])).values()];
}

/** Missing rows of an order that its messages name. */
export const MOST_NAMED = 10;

/**
 * Why rows may be missing in an order, while nobody says where they belong. `found`: because of a row next to it in this
 * file. Each row that this file does not have is named (`from`) or counted: nothing else is known of it when this file is corrected.
 */
export function unansweredDoubts(
  records: readonly SourceRecord[],
  found: string | undefined,
  {
    originals,
    numbered,
    named,
    loose,
    at,
  }: Answers & { originals: Originals | undefined; loose: LooseRows; at: At },
): Pick<Lack, 'what' | 'from'>[] {
  if (originals === undefined) return found === undefined ? [] : [{ what: found }];
  const { incomplete, open, orders } = originals;
  const places = placesIn(records, originals);
  const isElsewhere = (place: string) => !places.has(place) && numbered?.has(place) === true;
  const isOpen = (place: string) => !places.has(place) && (open.has(place) || orders.has(place));
  const waiting = new Set<string>();
  for (const { row, away } of rowsBeside(places, { incomplete, loose, numbered })) {
    let next: string | undefined = row;
    for (; next !== undefined && !isElsewhere(next); next = loose.next(next, away))
      if (isOpen(next)) waiting.add(next);
  }
  const here = [...waiting].find((place) => named?.has(place));
  const gone = [...waiting].filter((place) => named?.has(place) !== true);
  const near = found ?? (here && `${whereIs(here, originals, named)} waits for a person`);
  const left = gone.slice(0, MOST_NAMED).map((place, i) => {
    const more = i === MOST_NAMED - 1 ? gone.length - MOST_NAMED : 0;
    const what = `${whereIs(place, originals, named)} ${more > 0 ? `and ${more} more wait` : 'waits'} for a person`;
    return { what, from: { batch: originals.batch, place } };
  });
  const lacks = new Map(
    [...places].flatMap((place) => incomplete.get(place) ?? []).map((lack) => [lack.what, lack]),
  );
  const lost = stillLost([...lacks.values()], records, at);
  return [...(near === undefined ? [] : [{ what: near }]), ...left, ...lost];
}

/** Rows that are not known any more: those that a person added can be them, first each one with the same item. */
function stillLost(lacks: readonly Lack[], records: readonly SourceRecord[], at: At): Lack[] {
  const isThere = ({ from }: Lack) => records.some((record) => isRowAt(from, record));
  const lost = lacks.filter(
    (one) => one.kind === 'in-doubt' && one.row === undefined && !isThere(one),
  );
  let others = 0;
  for (const record of records.filter(isAdded)) {
    const index = lost.findIndex((one) => hasItem(one, record, at));
    if (index < 0) others += 1;
    else lost.splice(index, 1);
  }
  return lost.filter(({ more, from }) => {
    // With other values, only a person knows whether it is that row, which would stay open.
    if (from !== undefined) return true;
    others -= 1 + more;
    return others < 0;
  });
}

/** Whether the row that an order may lack has the article and the quantity of this record in the same columns. */
export function hasItem({ what, more }: Lack, record: SourceRecord, at: At): boolean {
  const [, cells = ''] =
    /^[^"]*(?:"(?:[^"\\]|\\.)*")? \((.*)\) waits for a person$/s.exec(what) ?? [];
  const was = itemIn(cells.split(', '), at);
  return more === 0 && was !== undefined && was === itemOf(record, at);
}

/** Article and quantity of a row as they were written. */
export function itemOf(record: SourceRecord | undefined, at: At): string | undefined {
  return record?.kind === 'row' ? itemIn(record.cells, at) : undefined;
}

function itemIn(cells: readonly string[], at: At): string | undefined {
  if (at?.articleCode === undefined || at.quantity === undefined) return undefined;
  return [cells[at.articleCode], cells[at.quantity]].map((cell = '') => cell.trim()).join('\n');
}

type At = Columns['at'] | undefined;

/** What the fix file says of the rows of its batch. */
export type Answers = { [Key in 'numbered' | 'named']: FixSummary[Key] | undefined };

/** A row of the batch in words; `named` has its place in this file if it is in it. `lackIn` reads it. */
export function whereIs(
  place: string,
  originals: Originals,
  named: FixSummary['named'] | undefined,
): string {
  const record = originals.records.get(place);
  const cells =
    record?.kind === 'row' ? record.cells.join(', ') : (JSON.stringify(record?.value) ?? '');
  const here = named?.get(place);
  return `${place} of ${fileTitle(originals)} (${shorten(cells, 100)})${here === undefined ? '' : `, here ${here},`}`;
}

/** What orders lack or may lack, without rows of other batches on which somebody decided there: discarded, or sent as another order. */
export async function withoutSettled(
  incomplete: Originals['incomplete'],
  reports: string,
): Promise<Originals['incomplete']> {
  const batches = new Set(
    [...incomplete.values()].flatMap((lacks) => lacks.flatMap(({ from }) => from?.batch ?? [])),
  );
  const settled = new Set<string>();
  for (const batch of batches)
    for await (const { purchaseOrderNumber, closed, location } of deadLettersOf(
      path.join(reports, batch),
    ))
      if (purchaseOrderNumber === '' && closed && closed.waitsIn === undefined)
        settled.add(`${batch} ${placeText(location)}`);
  const isOpen = ({ from, more }: Lack) =>
    from === undefined || more > 0 || !settled.has(`${from.batch} ${from.place}`);
  return new Map([...incomplete].map(([place, lacks]) => [place, lacks.filter(isOpen)]));
}

/** The dead letters of the report in a folder. */
export async function* deadLettersOf(folder: string): AsyncGenerator<DeadLetter> {
  const parser = createJsonParser({ kind: 'list', path: [] });
  for await (const chunk of createReadStream(path.join(folder, 'dead-letters.json')))
    for (const { value } of parser.write(chunk as Buffer)) yield value as DeadLetter;
  for (const { value } of parser.end()) yield value as DeadLetter;
}
