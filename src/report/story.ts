import type { DeadLetter } from '../order/dead-letter.ts';
import type { OrderResult } from '../order/outcome.ts';
import { addError, type ErrorGroups } from './error-groups.ts';

/** What the page shows in addition to `report.json`, collected while the orders are written; its size is bounded. */
export type Story = {
  /** When the first outcome was known. */
  firstAt: string | undefined;
  /** Dead letters that need a person. */
  open: number;
  groups: ErrorGroups;
};

/** A story without orders. */
export function newStory(): Story {
  return { firstAt: undefined, open: 0, groups: new Map() };
}

/** Adds an order's result and its dead letter, if it has one. */
export function addOrder(story: Story, result: OrderResult, deadLetter: DeadLetter | undefined): void {
  addTime(story, result.at);
  if (deadLetter !== undefined) addDeadLetter(story, deadLetter);
}

/** Adds the time of an outcome, ISO 8601. */
export function addTime(story: Story, at: string): void {
  if (story.firstAt === undefined || at < story.firstAt) story.firstAt = at;
}

/** Adds a dead letter. */
export function addDeadLetter(story: Story, deadLetter: DeadLetter): void {
  addError(story.groups, deadLetter);
  if (deadLetter.closed === undefined) story.open += 1;
}
