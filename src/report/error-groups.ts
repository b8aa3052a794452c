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
export function addError(groups: ErrorGroups, letter: DeadLetter): void {
  const group = groupOf(groups, letter);
  group.count += 1;
  if (letter.closed !== undefined) group.closed += 1;
  if (letter.firstAt < group.firstAt) group.firstAt = letter.firstAt;
  if (letter.lastAt > group.lastAt) group.lastAt = letter.lastAt;
  if (group.orders.length < ORDERS_SHOWN) group.orders.push(affected(letter));
}

/** The groups with the most orders first. */
export function byWeight(groups: ErrorGroups): ErrorGroup[] {
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function groupOf(groups: ErrorGroups, letter: DeadLetter): ErrorGroup {
  const key = `${letter.kind} ${letter.signature}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  if (groups.size >= MOST_GROUPS) return restOf(groups, letter);
  const group = emptyGroup(letter, { signature: letter.signature, code: letter.code, message: letter.message });
  groups.set(key, group);
  return group;
}

function restOf(groups: ErrorGroups, letter: DeadLetter): ErrorGroup {
  const rest = {
    signature: '',
    code: 'other',
    message: `Further errors, each unlike the ${MOST_GROUPS} kinds before.`,
  };
  const group = groups.get(letter.kind) ?? emptyGroup(letter, rest);
  groups.set(letter.kind, group);
  return group;
}

function emptyGroup(letter: DeadLetter, sample: { signature: string; code: string; message: string }): ErrorGroup {
  return {
    kind: letter.kind,
    ...sample,
    count: 0,
    closed: 0,
    firstAt: letter.firstAt,
    lastAt: letter.lastAt,
    orders: [],
  };
}

function affected(letter: DeadLetter): AffectedOrder {
  const problem = letter.problems?.[0];
  return {
    line: letter.location.line,
    pointer: letter.location.pointer ?? '',
    number: letter.purchaseOrderNumber,
    field: problem?.field ?? '',
    value: problem?.value ?? '',
    message: problem?.message ?? letter.message,
    also: furtherProblems(letter),
  };
}

function furtherProblems(letter: DeadLetter): string {
  const further = letter.problems?.slice(1) ?? [];
  const named = further.slice(0, 3).map(({ field, code }) => `${field} ${code}`.trim());
  return [...named, ...(further.length > 3 ? [`${further.length - 3} more`] : [])].join(', ');
}
