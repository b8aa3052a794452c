import { counted, orders } from '../core/format.ts';
import { FILES_NAMED } from '../order/batch.ts';
import { endOf } from '../order/closing-text.ts';
import { type BroughtBy, type DeadLetter, errorLine } from '../order/dead-letter.ts';
import { NUMBER_KNOWN, ROW_KNOWN } from '../order/fixing.ts';
import { itemsIn } from '../order/order.ts';
import {
  type DeadLetterKind,
  needsPerson,
  type OrderResult,
  type Outcome,
} from '../order/outcome.ts';
import { addLater, type Later, noneLater } from './corrections.ts';
import { type AffectedOrder, affected } from './dead-letters.ts';
import { addSame, NONE_SHOWN_BEFORE, type ShownBefore, withResult } from './results.ts';

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
  /**
   * How many orders came back and need a person in a newer batch, by batch. `nameless`: how many of them are rows without
   * an order number; `settled`: how many were settled before, and `accepted`; `file`: the name of its file, if known.
   */
  waiting: Map<string, Waiting>;
  /** How many open ones a file in progress brought back as orders, by its batch; not in `open`. `file`: its name. */
  brought: Map<string, { count: number; nameless: number; file: string }>;
  later: Later;
  groups: ErrorGroups;
  /** The first numbers of each outcome that needs no person. */
  settled: Map<Outcome, string[]>;
  shownBefore: ShownBefore;
  /** How many of its cancelled orders were accepted in another file since, as far as that is known. */
  sentElsewhere: number;
};

type Waiting = {
  count: number;
  nameless: number;
  settled: number;
  accepted: number;
  file: string | undefined;
};

/** A story of a batch without orders. */
export function newStory(batch?: string): Story {
  const none = {
    listed: 0,
    open: 0,
    nameless: 0,
    shownBefore: NONE_SHOWN_BEFORE,
    sentElsewhere: 0,
  };
  const maps = { waiting: new Map(), brought: new Map(), groups: new Map(), settled: new Map() };
  return { ...none, ...maps, later: noneLater(batch), firstAt: undefined };
}

/** Adds an order's result and its dead letter, if it has one. */
export function addOrder(
  story: Story,
  result: OrderResult,
  deadLetter: DeadLetter | undefined,
): void {
  addResult(story, result);
  if (deadLetter !== undefined) addDeadLetter(story, deadLetter);
}

/** Numbers kept of each outcome, for people who have only the page; the rest is only counted. */
const NUMBERS = 2_000;

/** Adds the time of an outcome, and its number where no person is needed. */
export function addResult(story: Story, result: OrderResult): void {
  const { at, outcome, purchaseOrderNumber } = result;
  story.listed += 1;
  if (story.firstAt === undefined || at < story.firstAt) story.firstAt = at;
  story.shownBefore = withResult(story.shownBefore, result);
  addSame(story.later.before, result);
  if (needsPerson(outcome)) return;
  const numbers = story.settled.get(outcome) ?? [];
  if (numbers.length < NUMBERS) numbers.push(purchaseOrderNumber);
  story.settled.set(outcome, numbers);
}

/** Adds a dead letter. `by`: the file in progress that brought it back. */
export function addDeadLetter(story: Story, deadLetter: DeadLetter, by?: BroughtBy): void {
  addError(story.groups, deadLetter, by);
  const { closed } = deadLetter;
  addLater(story.later, deadLetter, isNameless(deadLetter));
  if (by !== undefined) addBrought(story, deadLetter, by);
  else if (closed === undefined) story.open += 1;
  if (by === undefined && closed === undefined && isNameless(deadLetter)) story.nameless += 1;
  if (closed?.waitsIn === undefined) return;
  const one = story.waiting.get(closed.waitsIn) ?? {
    count: 0,
    nameless: 0,
    settled: 0,
    accepted: 0,
  };
  const nameless = one.nameless + Number(isNameless(deadLetter));
  const settled = one.settled + Number((closed.before ?? closed.end) !== undefined);
  const accepted = one.accepted + Number(endOf(closed) !== undefined);
  const { file } = closed.end ?? closed;
  story.waiting.set(closed.waitsIn, { count: one.count + 1, nameless, settled, accepted, file });
}

function addBrought({ brought }: Story, deadLetter: DeadLetter, { batch, file }: BroughtBy): void {
  const { count, nameless } = brought.get(batch) ?? { count: 0, nameless: 0 };
  brought.set(batch, {
    count: count + 1,
    nameless: nameless + Number(isNameless(deadLetter)),
    file,
  });
}

/** The dead letters of one kind and signature: their first and last time, and the first orders among them. */
export type ErrorGroup = {
  kind: DeadLetterKind;
  signature: string;
  code: string;
  message: string;
  count: number;
  /** How many of them have no order number. */
  nameless: number;
  /** How many of them were settled since. */
  closed: number;
  /** How many of the open ones have a number that is accepted or in progress already. */
  taken: number;
  /** How many of the open ones are rows without a number that an order of another file may have already. */
  takenRows: number;
  /** How many of them came back and need a person in a newer batch, or are in progress there (`brought`). */
  waiting: number;
  brought: number;
  firstAt: string;
  lastAt: string;
  orders: AffectedOrder[];
  /** Of refused orders: how many of them contain each article. */
  articles: Map<string, number>;
};

export type ErrorGroups = Map<string, ErrorGroup>;

/** Orders kept for each group; the rest is only counted. */
const ORDERS_SHOWN = 50;

/** Groups kept; further signatures share one group for each kind, because a page must stay small. */
const MOST_GROUPS = 200;

/** Adds a dead letter to the group of its kind and signature. */
export function addError(groups: ErrorGroups, deadLetter: DeadLetter, by?: BroughtBy): void {
  const group = groupOf(groups, deadLetter);
  group.count += 1;
  if (isNameless(deadLetter)) group.nameless += 1;
  group.brought += Number(by !== undefined);
  if (deadLetter.closed?.waitsIn !== undefined || by !== undefined) group.waiting += 1;
  else if (deadLetter.closed !== undefined) group.closed += 1;
  else if (deadLetter.problems?.some(({ code }) => code === NUMBER_KNOWN)) group.taken += 1;
  else if (deadLetter.problems?.some(({ code }) => code === ROW_KNOWN)) group.takenRows += 1;
  if (seenFrom(deadLetter) < group.firstAt) group.firstAt = seenFrom(deadLetter);
  if (deadLetter.lastAt > group.lastAt) group.lastAt = deadLetter.lastAt;
  keepInOrder(group.orders, deadLetter, by);
  if (deadLetter.kind === 'refused') addArticles(group, deadLetter);
}

/** Keeps the first orders of a file; of a batch in progress they come in any order. */
function keepInOrder(
  orders: AffectedOrder[],
  deadLetter: DeadLetter,
  by: BroughtBy | undefined,
): void {
  const at = orders.findLastIndex(({ line }) => line <= errorLine(deadLetter)) + 1;
  if (at < ORDERS_SHOWN)
    orders.splice(at, 0, { ...affected(deadLetter), ...(by && { brought: by }) });
  if (orders.length > ORDERS_SHOWN) orders.pop();
}

/** Counts the first 1,000 articles of a group, so that memory is bounded. */
function addArticles({ articles }: ErrorGroup, { payload }: DeadLetter): void {
  for (const article of new Set(itemsIn(payload).map(({ articleCode }) => articleCode))) {
    if (articles.has(article) || articles.size < 1000)
      articles.set(article, (articles.get(article) ?? 0) + 1);
  }
}

/** The field that the orders of a group share; empty where there is none. */
export function fieldOf({ orders: [first, ...others] }: Pick<ErrorGroup, 'orders'>): string {
  const field = first?.field ?? '';
  return others.every((order) => order.field === field) ? field : '';
}

/** The groups with the most orders first, then in the order of the file. */
export function byWeight(groups: ErrorGroups): ErrorGroup[] {
  const lineOf = ({ orders: [first] }: ErrorGroup) => first?.line ?? 0;
  return [...groups.values()].sort((a, b) => b.count - a.count || lineOf(a) - lineOf(b));
}

/** One of the counts of a group, of all groups of a kind. */
export function sumOf(
  groups: ErrorGroups,
  kind: DeadLetterKind,
  of: 'nameless' | 'closed' | 'taken' | 'takenRows',
): number {
  return [...groups.values()].reduce(
    (sum, group) => (group.kind === kind ? sum + group[of] : sum),
    0,
  );
}

/** The orders that came back and need a person in a newer batch, with the newest of these; undefined if there are none. */
export function elsewhereOf({ waiting }: Story): Elsewhere | undefined {
  if (waiting.size === 0) return undefined;
  const batches = [...waiting].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, FILES_NAMED);
  const named = batches.map(([batch, { file }]) => ({
    batch,
    ...(file !== undefined && { file }),
  }));
  const { count: all, nameless } = summed(waiting);
  const accepted = waiting.values().reduce((sum, one) => sum + one.accepted, 0);
  return { orders: all, nameless, accepted, batches: named };
}

/** In `report.json`: `accepted` of these orders were, before they came back. */
export type Elsewhere = Pick<Waiting, 'nameless' | 'accepted'> & {
  orders: number;
  batches: Named[];
};
type Named = { batch: string; file?: string };

/** How many a file in progress brought back. */
export const broughtOf = ({ brought }: Pick<Story, 'brought'>) => summed(brought);

function summed(batches: ReadonlyMap<string, { count: number; nameless: number }>) {
  const total = (name: 'count' | 'nameless') =>
    batches.values().reduce((sum, one) => sum + one[name], 0);
  return { count: total('count'), nameless: total('nameless') };
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
function seenFrom({ kind, firstAt, lastAt }: DeadLetter): string {
  return kind === 'refused' ? lastAt : firstAt;
}

function restOf(groups: ErrorGroups, deadLetter: DeadLetter): ErrorGroup {
  const message = `Errors of other kinds than the first ${MOST_GROUPS}.`;
  const group =
    groups.get(deadLetter.kind) ??
    emptyGroup(deadLetter, { signature: '', code: 'other', message });
  groups.set(deadLetter.kind, group);
  return group;
}

function emptyGroup(
  deadLetter: DeadLetter,
  sample: { signature: string; code: string; message: string },
): ErrorGroup {
  const { kind, lastAt } = deadLetter;
  const none = {
    count: 0,
    nameless: 0,
    closed: 0,
    taken: 0,
    takenRows: 0,
    waiting: 0,
    brought: 0,
    orders: [],
  };
  return { kind, ...sample, ...none, articles: new Map(), firstAt: seenFrom(deadLetter), lastAt };
}
