import type { DeadLetter } from '../order/dead-letter.ts';
import type { DeadLetterKind } from '../order/outcome.ts';

/** One order of a group. Texts are as they were found. */
export type AffectedOrder = {
  line: number;
  pointer: string;
  number: string;
  field: string;
  value: string;
  message: string;
  /** The order's other problems, in short. */
  also: string;
};

/** The dead letters of one kind and signature: their first and last time, and the first orders among them. */
export type ErrorGroup = {
  kind: DeadLetterKind;
  signature: string;
  code: string;
  message: string;
  count: number;
  /** How many of them were settled since. */
  closed: number;
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
  if (deadLetter.closed !== undefined) group.closed += 1;
  if (deadLetter.firstAt < group.firstAt) group.firstAt = deadLetter.firstAt;
  if (deadLetter.lastAt > group.lastAt) group.lastAt = deadLetter.lastAt;
  if (group.orders.length < ORDERS_SHOWN) group.orders.push(affected(deadLetter));
}

/** The groups with the most orders first. */
export function byWeight(groups: ErrorGroups): ErrorGroup[] {
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function groupOf(groups: ErrorGroups, deadLetter: DeadLetter): ErrorGroup {
  const key = `${deadLetter.kind} ${deadLetter.signature}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  if (groups.size >= MOST_GROUPS) return restOf(groups, deadLetter);
  const group = emptyGroup(deadLetter, {
    signature: deadLetter.signature,
    code: deadLetter.code,
    message: deadLetter.message,
  });
  groups.set(key, group);
  return group;
}

function restOf(groups: ErrorGroups, deadLetter: DeadLetter): ErrorGroup {
  const rest = {
    signature: '',
    code: 'other',
    message: `Errors of other kinds than the first ${MOST_GROUPS}.`,
  };
  const group = groups.get(deadLetter.kind) ?? emptyGroup(deadLetter, rest);
  groups.set(deadLetter.kind, group);
  return group;
}

function emptyGroup(deadLetter: DeadLetter, sample: { signature: string; code: string; message: string }): ErrorGroup {
  return {
    kind: deadLetter.kind,
    ...sample,
    count: 0,
    closed: 0,
    firstAt: deadLetter.firstAt,
    lastAt: deadLetter.lastAt,
    orders: [],
  };
}

function affected(deadLetter: DeadLetter): AffectedOrder {
  const problem = deadLetter.problems?.[0];
  return {
    line: deadLetter.location.line,
    pointer: deadLetter.location.pointer ?? '',
    number: deadLetter.purchaseOrderNumber,
    field: problem?.field ?? '',
    value: problem?.value ?? '',
    message: problem?.message ?? deadLetter.message,
    also: furtherProblems(deadLetter),
  };
}

function furtherProblems(deadLetter: DeadLetter): string {
  const further = deadLetter.problems?.slice(1) ?? [];
  const named = further.slice(0, 3).map(({ field, code }) => `${field} ${code}`.trim());
  return [...named, ...(further.length > 3 ? [`${further.length - 3} more`] : [])].join(', ');
}
