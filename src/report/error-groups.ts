import type { DeadLetter } from '../order/dead-letter.ts';
import type { DeadLetterKind } from '../order/outcome.ts';

/** One place where an error shows. Texts are as they were found. */
export type AffectedOrder = {
  line: number;
  pointer: string;
  number: string;
  field: string;
  value: string;
  message: string;
  /** What else is wrong in the order, shortly. */
  also: string;
};

/** Dead letters of one kind and signature, oldest and newest stamp, and the first orders of the file among them. */
export type ErrorGroup = {
  kind: DeadLetterKind;
  signature: string;
  code: string;
  message: string;
  count: number;
  /** How many of them a person has settled since. */
  closed: number;
  firstAt: string;
  lastAt: string;
  orders: AffectedOrder[];
};

export type ErrorGroups = Map<string, ErrorGroup>;

/** So many orders of a group are kept; the rest is counted. */
const ORDERS_SHOWN = 50;

/** Signatures beyond these share one group for each kind: what a page can hold is bounded. */
const MOST_GROUPS = 200;

/** Counts a dead letter into the group of its kind and signature. */
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
    message: `Further errors, each unlike the ${MOST_GROUPS} kinds before.`,
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
