import { NUMBER_FREE, SEND_UNCHANGED } from './number-texts.ts';
import type { DeadLetterKind } from './outcome.ts';
import type { Place } from './record.ts';
import { shellWord } from './text.ts';

/** What happens to the cancelled orders of an export: nobody can drop it again, and po-sync reads each version of it. */
export const CANCELLED_IN_EXPORT =
  'Cancelled orders that are still in the export are sent as soon as the export or its mapping changes in anything. To prevent that, have them taken out in the program that writes the export, or leave them out with skip in the mapping. To send them at once, drop a file with them into an inbox, with the columns that the files of that inbox have.';

/** What sends the cancelled orders of a file after all. An export cannot be dropped again. */
export function sendCancelled(isExport: boolean): string {
  return isExport
    ? CANCELLED_IN_EXPORT
    : 'To send the cancelled orders after all, drop the complete file again.';
}

/** What discarding does not do: the number is free afterwards. */
const DISCARDED_AGAIN =
  'A file that brings a discarded order again can send it: if you do not want the order, delete it in your list, too, or have it taken out of the export.';

/** The same of orders whose number is not free, alone and among others. */
const DISCARDED_TAKEN =
  'A file that brings a discarded order again cannot send it while its number is accepted or in progress.';
const SOME_TAKEN =
  'Those whose number is accepted or in progress cannot be sent again while it is.';

/** A dead letter as it is judged before it is discarded. `already`: that another file has it. */
type ToDiscard = {
  kind: DeadLetterKind;
  already?: string;
  problems?: readonly { code: string }[];
};

/** What discarding these orders does not do. `nameless`: how many of them are rows without an order number. */
export function discardedAgain(letters: readonly ToDiscard[], nameless = 0): string {
  if (nameless > 0 && nameless === letters.length)
    return 'The next file with such a row needs a person again.';
  const rows =
    nameless === 0 ? '' : ' The next file with a row without an order number needs a person again.';
  const taken = letters.filter(isTaken).length;
  if (taken === 0) return `${DISCARDED_AGAIN}${rows}`;
  return taken === letters.length ? DISCARDED_TAKEN : `${DISCARDED_AGAIN} ${SOME_TAKEN}${rows}`;
}

const isTaken = (letter: ToDiscard): boolean =>
  letter.kind === 'conflict' ||
  letter.already !== undefined ||
  (letter.problems ?? []).some(({ code }) => code === 'number-known');

/** What the operator does about a dead letter that is to be corrected (`correct`) or discarded, as lines. `isSent`: its number is accepted. */
export function openSteps(
  number: string,
  { kind, problems = [] }: Partial<Pick<ToDiscard, 'kind' | 'problems'>> | undefined = {},
  { correct, isSent }: { correct: readonly string[]; isSent: boolean },
): string[] {
  const discard = `  po-sync dead-letters discard --order ${shellWord(number)}`;
  const codes = new Set(problems.map(({ code }) => code));
  if (kind === 'conflict' && !isSent)
    return [
      `${NUMBER_FREE} ${SEND_UNCHANGED}:`,
      ...correct,
      'If it is not wanted, discard it:',
      discard,
    ];
  if (kind === 'conflict')
    return [
      'Other content with this number waits. Agree on the change with the supplier, then discard that content:',
      discard,
      'Only if it really is another order, enter another number.',
      ...correct,
    ];
  if (isSent || codes.has('number-known'))
    return [
      'Other content with this number waits. Do what its message says, then discard that content:',
      discard,
      'It can also be corrected: only what is as it was accepted closes it.',
      ...correct,
    ];
  return [...correct];
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
