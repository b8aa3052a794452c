import type { Place } from './record.ts';
import { shellWord } from './text.ts';

/** What a person does next, in words, or what is typed. */
export type Step = string | { command: string };

/** What happens to the cancelled orders of an export: nobody can drop it again, and po-sync reads each version of it. */
export const CANCELLED_IN_EXPORT =
  'Cancelled orders that are still in the export are sent as soon as the export or its mapping changes in anything. To prevent that, have them taken out there, or leave them out with skip in the mapping.';

/** What sends the cancelled orders of a file after all. An export cannot be dropped again. */
export function sendCancelled(isExport: boolean): string {
  return isExport
    ? CANCELLED_IN_EXPORT
    : 'To send the cancelled orders after all, drop the complete file again.';
}

/** What discarding does not do. */
export const DISCARDED_AGAIN =
  'A file that brings a discarded order again can send it while its number is free: if you do not want the order, delete it in your list, too, or have it taken out of the export.';

/** What the operator does about an open dead letter, as lines: `correct`, or discard. `isSent`: its number is accepted. */
export function openSteps(number: string, correct: readonly Step[], isSent = false): Step[] {
  return [
    ...(isSent
      ? ['Other content with this number waits: agree on the change with the supplier.']
      : []),
    ...correct,
    'If it is not wanted, discard it:',
    { command: `po-sync dead-letters discard --order ${shellWord(number)}` },
  ];
}

/** A place in words: `line 7`, or the pointer of a JSON file, `/orders/3`. */
export function placeText({ line, pointer = '' }: Place): string {
  return pointer === '' ? `line ${line}` : pointer;
}

/** Where corrected files belong, where no inbox is configured. */
export const INTO_NO_INBOX =
  'into an inbox (none is configured. For your operator: add a source of type inbox, or correct the orders in the dashboard)';

/** Whether files can be dropped at all: a configuration may have exports only. */
export function hasInbox({ sources }: { sources: readonly { type: string }[] }): boolean {
  return sources.some(({ type }) => type === 'inbox');
}

/** Where corrected files belong, as the end of "drop it". An export has no inbox: any one takes its fix files. */
export function intoInbox({
  sources,
}: {
  sources: readonly { type: string; path: string }[];
}): string {
  const inbox = sources.find(({ type }) => type === 'inbox');
  if (inbox === undefined) return INTO_NO_INBOX;
  return sources.some(({ type }) => type === 'export')
    ? `into an inbox, such as ${inbox.path}`
    : 'into the inbox';
}
