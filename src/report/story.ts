import type { DeadLetter } from '../order/dead-letter.ts';
import type { OrderResult } from '../order/order-result.ts';
import { addError, type ErrorGroups } from './error-groups.ts';

/** What the page tells beyond `report.json`, gathered while the orders pass by; its size is bounded. */
export type Story = {
  /** When the first outcome was known. */
  firstAt: string | undefined;
  /** Dead letters that wait for a person. */
  open: number;
  groups: ErrorGroups;
};

/** A story in which nothing happened yet. */
export function newStory(): Story {
  return { firstAt: undefined, open: 0, groups: new Map() };
}

/** Adds one order's fate. */
export function addOrder(story: Story, result: OrderResult, deadLetter: DeadLetter | undefined): void {
  addTime(story, result.at);
  if (deadLetter !== undefined) addDeadLetter(story, deadLetter);
}

/** Adds when an outcome was known, ISO 8601. */
export function addTime(story: Story, at: string): void {
  if (story.firstAt === undefined || at < story.firstAt) story.firstAt = at;
}

/** Adds a dead letter alone. */
export function addDeadLetter(story: Story, deadLetter: DeadLetter): void {
  addError(story.groups, deadLetter);
  if (deadLetter.closed === undefined) story.open += 1;
}
