import type { DeadLetter } from '../order/dead-letter.ts';
import type { OrderResult } from '../order/order-result.ts';
import { addError, type ErrorGroups } from './error-groups.ts';

/** What the page tells beyond `report.json`, gathered while the orders pass by; its size is bounded. */
export type Story = {
  /** When the first and the last outcome were known. */
  firstAt: string | undefined;
  lastAt: string | undefined;
  /** Dead letters that wait for a person. */
  open: number;
  groups: ErrorGroups;
};

/** A story in which nothing happened yet. */
export function newStory(): Story {
  return { firstAt: undefined, lastAt: undefined, open: 0, groups: new Map() };
}

/** Adds one order's fate. */
export function addOrder(story: Story, result: OrderResult, letter: DeadLetter | undefined): void {
  if (story.firstAt === undefined || result.at < story.firstAt) story.firstAt = result.at;
  if (story.lastAt === undefined || result.at > story.lastAt) story.lastAt = result.at;
  if (letter !== undefined) addLetter(story, letter);
}

/** Adds a dead letter alone, where the times of the outcomes are not known any more. */
export function addLetter(story: Story, letter: DeadLetter): void {
  addError(story.groups, letter);
  if (letter.closed === undefined) story.open += 1;
}
