import type { ListedOrder } from '../api/list.ts';
import { createListBudget } from '../ledger/adopt.ts';
import type { KeyOf } from '../order/number-key.ts';

/** Why the list proves nothing about orders that it does not show. */
export type Unproved =
  /** Nothing was sent yet that the list would have to show. */
  | { code: 'list-unproved'; facts: { order?: string } }
  /** It does not show this order, or it has not grown since that was sent, or it lacks what it showed. */
  | { code: 'list-incomplete'; facts: { order: string } };

/** An order that the API certainly has, and when its attempt began: a complete list must show it. */
export type Canary = { number: string; since: number };

/** What a list is worth as evidence that an order is absent. */
export type Evidence =
  /** Several such lists, a settle apart, prove the absence of orders sent after `reaches`. */
  | { kind: 'good'; reaches: number }
  /** Nothing shows yet that the list is complete, or something shows that it is not. */
  | { kind: 'unproved'; by: Unproved }
  /** It lacks an order that it must show: cut, filtered or lagging. */
  | { kind: 'bad'; missing: string };

/** A complete list read at `listedFrom`, and the canaries among the orders it shows. */
export type ListSight = {
  listedFrom: number;
  settle: number;
  canaries: readonly Canary[];
  listed: ReadonlySet<string>;
  /** Canaries up to this time were replaced: the list no longer shows orders that old. 0: none. */
  agedUntil: number;
  /** Why the list is not proved complete, if it is not. */
  unproved?: Unproved | undefined;
};

/**
 * Judges a complete list. Only canaries at least two settles old count: a good list may lack younger ones. After
 * canaries were replaced, the list says nothing about orders older than the oldest one that it shows.
 */
export function judgeEvidence({
  listedFrom,
  settle,
  canaries,
  listed,
  agedUntil,
  unproved,
}: ListSight): Evidence {
  if (unproved !== undefined) return { kind: 'unproved', by: unproved };
  const grown = grownOf(canaries, listedFrom, settle);
  const missing = grown.find(({ number }) => !listed.has(number));
  if (missing) return { kind: 'bad', missing: missing.number };
  if (agedUntil === 0) return { kind: 'good', reaches: 0 };
  return { kind: 'good', reaches: (grown[0]?.since ?? listedFrom) + settle };
}

/** Whether a list lacks an order that it must show, and shows an older one: it does not only keep the newest. */
export function isCut(
  { canaries, listed }: Pick<ListSight, 'canaries' | 'listed'>,
  evidence: Evidence,
): boolean {
  if (evidence.kind !== 'bad') return false;
  const since = canaries.find(({ number }) => number === evidence.missing)?.since ?? 0;
  return canaries.some((one) => one.since < since && listed.has(one.number));
}

/**
 * How far a list reaches that lacks an order which may have been created from `firstAt` until a settle after `sentAt`. It
 * is cut there, unless it shows an order that was created before, and one that was created after.
 */
export type Reach =
  | 'beyond'
  /** It need not show any order yet that was created after. */
  | 'early'
  /** No order is known that was created after. */
  | 'unknown'
  /** It shows none that was created before. */
  | 'short';

export function reachOf(
  { canaries, listed, settle }: Pick<ListSight, 'canaries' | 'listed' | 'settle'>,
  { firstAt, sentAt }: { firstAt: number; sentAt: number },
): Reach {
  const isShown = ({ number }: Canary) => listed.has(number);
  if (!canaries.some((one) => one.since < firstAt && isShown(one))) return 'short';
  const younger = canaries.filter(({ since }) => since >= sentAt + settle);
  if (younger.some(isShown)) return 'beyond';
  return younger.length > 0 ? 'early' : 'unknown';
}

/** A canary that lists have not shown: since when, and in how many of them in a row. */
export type Absence = { since: number; lists: number };

/** A canary is replaced after it was missing from this many lists in a row, over this many settles. */
const LISTS = 5;
const SETTLES = 5;

/**
 * Canaries age: an API may archive old orders. A canary that is missing for long while every younger one is shown is
 * replaced; any other gap stays bad evidence. Returns the absences after this list and the canaries to replace.
 */
export function ageCanaries(
  { listedFrom, settle, canaries, listed }: Omit<ListSight, 'agedUntil'>,
  before: Readonly<Record<string, Absence>>,
): { absences: Record<string, Absence>; replaced: Canary[] } {
  const grown = grownOf(canaries, listedFrom, settle);
  const firstShown = grown.findIndex(({ number }) => listed.has(number));
  const isArchive =
    firstShown > 0 && grown.slice(firstShown).every(({ number }) => listed.has(number));
  if (!isArchive) return { absences: {}, replaced: [] };
  const absences: Record<string, Absence> = {};
  const replaced: Canary[] = [];
  for (const canary of grown.slice(0, firstShown)) {
    const { since, lists } = before[canary.number] ?? { since: listedFrom, lists: 0 };
    if (lists + 1 >= LISTS && listedFrom - since >= SETTLES * settle) replaced.push(canary);
    else absences[canary.number] = { since, lists: lists + 1 };
  }
  return { absences, replaced };
}

/** The canaries that a list must show, oldest first. */
function grownOf(canaries: readonly Canary[], listedFrom: number, settle: number): Canary[] {
  return canaries
    .filter(({ since }) => listedFrom - since >= 2 * settle)
    .sort((a, b) => a.since - b.since);
}

/** Collects the rows of the orders with these keys, and the canaries that the list shows, however spelled. */
export function collectRows(
  wanted: ReadonlySet<string>,
  canaries: readonly Canary[],
  keyOf: KeyOf,
) {
  const rows = new Map<string, ListedOrder[]>();
  const watched = new Map(canaries.map(({ number }) => [keyOf(number), number]));
  const listed = new Set<string>();
  const count = createListBudget();

  function take(order: ListedOrder): void {
    const key = keyOf(order.purchaseOrderNumber);
    const canary = watched.get(key);
    if (canary !== undefined) listed.add(canary);
    if (!wanted.has(key)) return;
    count(order);
    const shown = rows.get(key) ?? [];
    if (shown.push(order) === 1) rows.set(key, shown);
  }

  return { rows, listed, take };
}
