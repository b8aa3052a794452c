import { counted, orders } from '../core/format.ts';
import { type DeadLetter, errorLine } from '../order/dead-letter.ts';
import { correctedBy } from '../order/letter-id.ts';
import type { CheckedOrder } from '../order/order.ts';
import { type DeadLetterKind, KNOWN_INVALID, type OrderResult } from '../order/outcome.ts';
import { type Sentence, sentence } from '../order/sentence.ts';
import { type AffectedOrder, affected } from './dead-letters.ts';

/** What the page shows in addition to `report.json`, collected while the orders are written; its size is bounded. */
export type Story = {
  /** Orders that `results.csv` has. */
  listed: number;
  /** When the first outcome was known. */
  firstAt: string | undefined;
  /** Dead letters that need a person. */
  open: number;
  /** How many of them are rows without an order number. */
  nameless: number;
  groups: ErrorGroups;
  /** Orders that stay with the open dead letter of another file. */
  waiting: number;
  /** Dead letters whose correction came too late. */
  outdated: number;
};

/** A story of a batch without orders. */
export function newStory(): Story {
  const none = { listed: 0, open: 0, nameless: 0, waiting: 0, outdated: 0 };
  return { ...none, groups: new Map(), firstAt: undefined };
}

/** Adds an order's result and its dead letter, if it has one. */
export function addOrder(
  story: Story,
  result: OrderResult,
  deadLetter: DeadLetter | undefined,
  records: CheckedOrder['records'] = [],
): void {
  addResult(story, result);
  if (result.code === 'outdated') story.outdated += correctedBy(records).length;
  if (deadLetter !== undefined) addDeadLetter(story, deadLetter);
}

/** Adds an outcome. */
function addResult(story: Story, { at, code }: OrderResult): void {
  story.listed += 1;
  if (story.firstAt === undefined || at < story.firstAt) story.firstAt = at;
  if (code === KNOWN_INVALID) story.waiting += 1;
}

/** Adds a dead letter. */
function addDeadLetter(story: Story, deadLetter: DeadLetter): void {
  addError(story.groups, deadLetter);
  if (deadLetter.closed !== undefined) return;
  story.open += 1;
  story.nameless += Number(isNameless(deadLetter));
}

/** The dead letters of one kind and signature: their first and last time, and the first orders among them. */
export type ErrorGroup = {
  kind: DeadLetterKind;
  signature: string;
  code: string;
  message: Sentence;
  count: number;
  /** How many of them have no order number. */
  nameless: number;
  firstAt: string;
  lastAt: string;
  orders: AffectedOrder[];
};

export type ErrorGroups = Map<string, ErrorGroup>;

/** Orders kept for each group; the rest is only counted. */
const ORDERS_SHOWN = 50;

/** Groups kept; further signatures share one group for each kind, because a page must stay small. */
const MOST_GROUPS = 200;

/** Adds a dead letter to the group of its kind and signature. */
export function addError(groups: ErrorGroups, deadLetter: DeadLetter): void {
  const group = groupOf(groups, deadLetter);
  group.count += 1;
  if (isNameless(deadLetter)) group.nameless += 1;
  if (seenFrom(deadLetter) < group.firstAt) group.firstAt = seenFrom(deadLetter);
  if (deadLetter.lastAt > group.lastAt) group.lastAt = deadLetter.lastAt;
  keepInOrder(group.orders, deadLetter);
}

/** Keeps the first orders of a file; of a batch in progress they come in any order. */
function keepInOrder(orders: AffectedOrder[], deadLetter: DeadLetter): void {
  const at = orders.findLastIndex(({ line }) => line <= errorLine(deadLetter)) + 1;
  if (at < ORDERS_SHOWN) orders.splice(at, 0, affected(deadLetter));
  if (orders.length > ORDERS_SHOWN) orders.pop();
}

/** The groups with the most orders first, then in the order of the file. */
export function byWeight(groups: ErrorGroups): ErrorGroup[] {
  const lineOf = ({ orders: [first] }: ErrorGroup) => first?.line ?? 0;
  return [...groups.values()].sort((a, b) => b.count - a.count || lineOf(a) - lineOf(b));
}

/** How many rows without an order number all groups of a kind have. */
export function namelessOf(groups: ErrorGroups, kind: DeadLetterKind): number {
  return [...groups.values()].reduce((sum, one) => sum + (one.kind === kind ? one.nameless : 0), 0);
}

/** How many dead letters are rows without an order number, also those that were settled since. */
export function allNameless({ groups }: Story): number {
  return [...groups.values()].reduce((sum, { nameless }) => sum + nameless, 0);
}

/** Whether it is a row of a table without an order number, which may be part of another order. */
export function isNameless({
  purchaseOrderNumber,
  location,
}: Pick<DeadLetter, 'purchaseOrderNumber' | 'location'>): boolean {
  return purchaseOrderNumber === '' && location.pointer === undefined;
}

/** How many of the dead letters that are open are rows without an order number, in words: `2 orders and 1 row …`. */
export function openText(open: number, nameless: number): string {
  const rows = `${counted(nameless, 'row')} without an order number`;
  if (nameless === 0) return orders(open);
  return open === nameless ? rows : `${orders(open - nameless)} and ${rows}`;
}

function groupOf(groups: ErrorGroups, deadLetter: DeadLetter): ErrorGroup {
  const key = `${deadLetter.kind} ${deadLetter.signature}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  if (groups.size >= MOST_GROUPS) return restOf(groups, deadLetter);
  const { signature, code, message } = deadLetter;
  const group = emptyGroup(deadLetter, { signature, code, message });
  groups.set(key, group);
  return group;
}

/** Since when the problem was there: attempts before a refusal had other answers. */
export function seenFrom({ kind, firstAt, lastAt }: DeadLetter): string {
  return kind === 'refused' ? lastAt : firstAt;
}

function restOf(groups: ErrorGroups, deadLetter: DeadLetter): ErrorGroup {
  const message = sentence(`Errors of other kinds than the first ${MOST_GROUPS}.`);
  const group =
    groups.get(deadLetter.kind) ??
    emptyGroup(deadLetter, { signature: '', code: 'other', message });
  groups.set(deadLetter.kind, group);
  return group;
}

function emptyGroup(
  deadLetter: DeadLetter,
  sample: { signature: string; code: string; message: Sentence },
): ErrorGroup {
  const { kind, lastAt } = deadLetter;
  const none = { count: 0, nameless: 0, orders: [] };
  return { kind, ...sample, ...none, firstAt: seenFrom(deadLetter), lastAt };
}
