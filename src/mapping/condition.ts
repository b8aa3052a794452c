import { type Line, notComparable, textAt } from './line.ts';
import type { Column } from './plan.ts';

// Rule 3: a condition has a declared value, compared exactly.

/** Whether a row has a value that `skip` leaves out. What is no value, such as struck text, leaves nothing out. */
export function isSkipped({ skip }: Column, line: Line, at: number): boolean {
  return (
    at >= 0 && skip?.has(textAt(line, at)) === true && notComparable(line.odd?.[at]) === undefined
  );
}

/** Whether `send` has the value of a row, which `skip` does not leave out. */
export function isSent({ send }: Column, line: Line, at: number): boolean {
  return (
    send === undefined ||
    (send.has(textAt(line, at)) && notComparable(line.odd?.[at]) === undefined)
  );
}
