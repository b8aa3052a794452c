import { placeText } from './fixing.ts';
import type { CheckedOrder, Order } from './order.ts';
import type { DeadLetterKind } from './outcome.ts';
import type { Problem } from './record.ts';

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

/** One entry of `dead-letters.json`. `id`: that of its batch and the ordinal of its order. */
export type DeadLetter = {
  id?: string;
  revision?: number;
  rows?: readonly LetterRow[];
  purchaseOrderNumber: string;
  kind: DeadLetterKind;
  stage: 'validation' | 'delivery' | 'reconciliation';
  code: string;
  message: string;
  problems?: Problem[];
  /** Of an order that failed a check: its first article codes, as read. */
  articles?: string[];
  /** Its first items, as read: `A-1 × one`; `?` for what is missing. */
  itemsRead?: string[];
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

/** A value that a person changed in a row that came back. `place`: that of the row in the batch of the dead letter. */
export type Change = { place: string; field: string; from: string; to: string };

/** Who or what closed a dead letter. */
export type End = {
  at: string;
  by: string;
  batch?: string;
  /** The person who closed it, or who submitted the file of `batch` at the admin port. */
  who?: string;
  /** The name of the file of `waitsIn` if there is no `end`, else of `batch`. */
  file?: string;
};

/**
 * `waitsIn`: the batch in which its rows need a person again, while they do. `end`: how they ended there; with `waitsIn`,
 * that they came back after they were settled. `before`: how rows that waited in other batches ended before that.
 */
export type Closed = End & { waitsIn?: string; end?: End; before?: End } & Corrected;

/**
 * What was changed in its rows, none if they came back as they were, absent if that is not known; and the order number
 * that they have now, where that is another one.
 */
export type Corrected = { changes?: readonly Change[]; number?: string };

/** The file in progress that brought rows of an open dead letter back, and the number of the order that they are there. */
export type BroughtBy = { batch: string; file: string; number: string };

/** The dead letter of `batch` that has the rows of an older one. */
export type Successor = Pick<DeadLetter, 'purchaseOrderNumber' | 'kind' | 'location'>;

/**
 * How a dead letter was closed: `batch` brought the order that was accepted, or the person `who` closed it. With
 * `successor`, `batch` brought its rows and they need a person again. Closes every dead letter of the number; with
 * `kind`, or with `place` where there is no number, only that one. `again`: closes nothing, because something else had
 * settled it before `batch` brought its rows.
 */
export type Closing = {
  number: string;
  at: string;
  by: string;
  batch?: string;
  who?: string;
  kind?: string;
  place?: string;
  successor?: Successor;
  again?: true;
  waitsIn?: string;
  file?: string;
  end?: End;
  before?: End;
};

/** The closings of one batch, by dead letter. */
export type Closings = ReadonlyMap<string, Closing>;

export function closingsOf(closings: readonly Closing[]): Closings {
  return new Map(
    closings.filter(({ again }) => !again).map((closing) => [keyOf(closing), closing]),
  );
}

/** What closed a dead letter; undefined while it is open. */
export function closingFor(
  {
    purchaseOrderNumber: number,
    kind,
    location,
  }: Pick<DeadLetter, 'purchaseOrderNumber' | 'kind' | 'location'>,
  closings: Closings,
) {
  if (number === '') return closings.get(keyOf({ number, place: placeText(location) }));
  return closings.get(keyOf({ number })) ?? closings.get(keyOf({ number, kind }));
}

/** What `dead-letters.json` says about a closing. */
export function closedBy({ waitsIn, end, before, ...closing }: Closing): Closed {
  return {
    ...endBy(closing),
    ...(waitsIn && { waitsIn }),
    ...(end && { end }),
    ...(before && { before }),
  };
}

/** Who or what closed it, without the dead letter that it closed. */
export function endBy({ at, by, batch, who, file }: Closing): End {
  return {
    at,
    by,
    ...(batch === undefined ? {} : { batch }),
    ...(who === undefined ? {} : { who }),
    ...(file === undefined ? {} : { file }),
  };
}

/** The place of a closing that is about a file: a later file of the same name could be read. */
const FILE = 'file';

/** The closing of an unreadable file that the batch `by` replaced. */
export function fileReplaced(by: string, at: string): Closing & { place: string } {
  return { number: '', place: FILE, at, by: 'replaced', batch: by };
}

/** The place of a closing that is about a file: somebody removed it. */
const REMOVED = 'file removed';

/** The closing of an unreadable file that is not where it was put away any more. */
export function fileRemoved(at: string): Closing & { place: string } {
  return { number: '', place: REMOVED, at, by: 'removed' };
}

/** The place of a closing that closes nothing: a later file had the same content. */
const AGAIN = 'read again';

/** That the batch `by`, which began at `at`, read the content of an older one again. */
export function fileReadAgain(by: string, at: string): Closing & { place: string } {
  return { number: '', place: AGAIN, at, by: 'repeated', batch: by };
}

/** The batch that replaced an unreadable file or when it was removed, and the last batch that read the same content again. */
export function laterFilesIn(closings: Closings) {
  const removedAt = closings.get(keyOf({ number: '', place: REMOVED }))?.at;
  const replacedBy = closings.get(keyOf({ number: '', place: FILE }))?.batch;
  const { batch, file, at = '' } = closings.get(keyOf({ number: '', place: AGAIN })) ?? {};
  const again =
    batch === undefined ? undefined : { batch, ...(file === undefined ? {} : { file }), at };
  const newer = {
    ...(replacedBy === undefined ? {} : { replacedBy }),
    ...(again === undefined ? {} : { repeatedBy: again }),
  };
  return { ...newer, removedAt };
}

function keyOf({
  number,
  kind = '',
  place = '',
}: Pick<Closing, 'number' | 'kind' | 'place'>): string {
  return JSON.stringify([number, kind, place]);
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

/** The places of an order's rows, its first faulty row first: a fix file may come back without some of them. */
export function placesOf({ location }: Pick<DeadLetter, 'location'>): string[] {
  const { line, lines = [], pointer } = location;
  const others = pointer === undefined ? lines.filter((one) => one !== line) : [];
  return [placeText(location), ...others.map((one) => placeText({ line: one }))];
}
