import { NUMBER_FREE, SEND_UNCHANGED } from './number-texts.ts';
import type { DeadLetterKind } from './outcome.ts';
import type { FixTarget, Place } from './record.ts';
import { shellWord } from './text.ts';

/** The columns (in JSON: keys) that follow the input's own in a fix file. They are never sent. */
export const ERROR_COLUMNS = [
  '_error_line',
  '_error_code',
  '_error_message',
  '_error_check',
] as const;

export type ErrorColumn = (typeof ERROR_COLUMNS)[number];

/** The error column with this name, in any case and with spaces around it; undefined for a column of the input. */
export function errorColumnOf(name: string): ErrorColumn | undefined {
  const plain = name.trim().toLowerCase();
  return ERROR_COLUMNS.find((column) => column === plain);
}

/**
 * What the `_error_check` of a row says. `intact`: the row was not opened by a program that converts cells, so every
 * difference is a person's. `rewritten` and `missing`: cells may be converted. `confirmed`: a person wrote that the values
 * are right as they are.
 */
export type FixCheck = 'intact' | 'rewritten' | 'missing' | 'confirmed';

/** What a person writes into `_error_check` to send the values of a row as they are. */
export const CONFIRMED = 'confirmed';

/** Every spreadsheet turns it into a number: 1000 where the comma (the point) groups thousands, else 1. */
const CHECKS = ['01,000', '01.000'] as const;

/**
 * The text for `_error_check` in a fix file with this delimiter. It needs no quotes, because some programs convert only
 * cells without quotes: they would keep the check and convert others.
 */
export function writeFixCheck(delimiter: string | undefined): string {
  return delimiter === ',' ? CHECKS[1] : CHECKS[0];
}

/** Reads an `_error_check` that came back; `cell` is undefined when the row has none. */
export function readFixCheck(cell: string | undefined): FixCheck {
  const text = cell?.trim() ?? '';
  if (text === '') return 'missing';
  if (text.toLowerCase() === CONFIRMED) return 'confirmed';
  return CHECKS.some((check) => check === text) ? 'intact' : 'rewritten';
}

/** What to do with an item that may only seem to name another order. */
export const NO_ORDER = `. If that is not the number of an order of yours, write ${CONFIRMED} into _error_check of the fix file. For your operator: if it never is, set otherReadings: allow in the mapping of the source`;

/** Problem code of an order in a fix file whose number may have lost its leading zeros in a spreadsheet. */
export const LEADING_ZEROS_LOST = 'leading-zeros-lost';

/** What happens to the cancelled orders of an export: nobody can drop it again, and po-sync reads each version of it. */
export const CANCELLED_IN_EXPORT =
  'Cancelled orders that are still in the export are sent as soon as the export or its mapping changes in anything. To prevent that, have them taken out in the program that writes the export, or leave them out with skipWhere in the mapping. To send them at once, drop a file with them into an inbox, with the columns that the files of that inbox have.';

/** What sends the cancelled orders of a file after all. An export cannot be dropped again. */
export function sendCancelled(isExport: boolean): string {
  return isExport
    ? CANCELLED_IN_EXPORT
    : 'To send the cancelled orders after all, drop the complete file again.';
}

/** How a correction in the source reaches po-sync: what a person drops, or the next version of an export. */
export const CORRECTED_EXPORT =
  'have them corrected in the program that writes the export: po-sync reads its next version';

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
  problems?: readonly { code: string; message?: string }[];
};

/** What discarding these orders does not do. `nameless`: how many of them are rows without an order number. */
export function discardedAgain(letters: readonly ToDiscard[], nameless = 0): string {
  if (nameless > 0 && nameless === letters.length)
    return 'The next file with such a row needs a person again.';
  const rows =
    nameless === 0 ? '' : ' The next file with a row without an order number needs a person again.';
  const taken = letters.filter(isTaken).length;
  if (taken === 0) return `${DISCARDED_AGAIN}${rows}`;
  const text =
    taken === letters.length ? DISCARDED_TAKEN : `${DISCARDED_AGAIN} ${SOME_TAKEN}${rows}`;
  return letters.some(isSpelled)
    ? text.replace(' number is ', ' number is, in this or another spelling, ')
    : text;
}

const isSpelled = ({ already = '', problems = [] }: ToDiscard): boolean =>
  /^order .+? differs from .+?, which is /s.test(already) ||
  problems.some(({ code }) => code === OTHER_SPELLING);

const isTaken = (letter: ToDiscard): boolean =>
  letter.kind === 'conflict' ||
  letter.already !== undefined ||
  isSpelled(letter) ||
  (letter.problems ?? []).some(({ code }) => code === NUMBER_KNOWN);

/** Problem code of an order with errors whose number another file has, accepted or in progress. */
export const NUMBER_KNOWN = 'number-known';

/** Problem code of a row without a number that an order of another file, accepted or in progress, may have already. */
export const ROW_KNOWN = 'row-known';

/** Problem code of an order in a fix file whose row is already another order. */
export const ALREADY_CORRECTED = 'already-corrected';

/** Problem code of an order in a fix file with the number of one that needs a person, and none of its rows. */
export const ROWS_LEFT_OUT = 'rows-left-out';

/** Problem code of an order whose number an order of another file has in another spelling. */
export const OTHER_SPELLING = 'other-spelling';

/** The beginning of its message. `otherSpellingIn` reads it. */
export function otherSpellingText(number: string, other: string): string {
  return `order ${number} differs from ${other}, which is `;
}

/** How its message says that the items differ. */
export const OTHER_ITEMS = ' with other items, ';

/** The number of the other order; undefined when the message names none. */
export function otherSpellingIn({
  number,
  message,
}: {
  number: string;
  message: string;
}): string | undefined {
  const [start = '', end = ''] = otherSpellingText(number, '\n').split('\n');
  const to = message.indexOf(end, start.length);
  return message.startsWith(start) && to > start.length
    ? message.slice(start.length, to)
    : undefined;
}

/** Codes of problems whose messages name the order that was sent. */
const SENT_AS: ReadonlySet<string> = new Set([NUMBER_KNOWN, OTHER_SPELLING, ALREADY_CORRECTED]);

/** Whether the texts of a dead letter say that its order was accepted before, with other content or another number. */
export function isOrdered({ kind, message, problems = [] }: Ordered): boolean {
  const texts =
    kind === 'conflict'
      ? [message]
      : problems.flatMap((one) => (SENT_AS.has(one.code) ? one.message : []));
  return texts.some(
    (text) => ORDERED.test(text) && !text.includes('leave this row out of this order'),
  );
}

type Ordered = {
  kind: DeadLetterKind;
  message: string;
  problems?: readonly { code: string; message: string }[];
};

const ORDERED =
  /^this number is already accepted|^the API already has this number|, which is accepted\b| was already sent as /;

/** What the operator does about a dead letter that is to be corrected (`correct`) or discarded, as lines. `isSent`: its number is accepted. */
export function openSteps(
  number: string,
  { kind, problems = [] }: Partial<Pick<ToDiscard, 'kind' | 'problems'>> | undefined = {},
  { correct, isSent }: { correct: readonly string[]; isSent: boolean },
): string[] {
  const discard = `  po-sync dead-letters discard --order ${shellWord(number)}`;
  const codes = new Set(problems.map(({ code }) => code));
  if (codes.has(OTHER_SPELLING)) {
    const isOther = problems.some(({ message = '' }) => message.includes(OTHER_ITEMS));
    return [
      isOther
        ? 'If it is the same order as the one that the message names, enter the number of that one to see both contents, and agree on the change with the supplier. If it is not wanted, discard it:'
        : 'If it is the same order as the one that the message names, discard it:',
      discard,
      `If it really is another order, write ${CONFIRMED} into _error_check of its rows.`,
      ...correct,
    ];
  }
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
  if (isSent || codes.has(NUMBER_KNOWN))
    return [
      'Other content with this number waits. Do what its message says, then discard that content:',
      discard,
      'It can also be corrected: only what is as it was accepted closes it.',
      ...correct,
    ];
  if (codes.has('called-off'))
    return ['If it is not wanted, discard it:', discard, 'If it is wanted:', ...correct];
  return [...correct];
}

/** What to do with an order when a row that was in doubt is settled, unless its number is taken. */
export const SEND_AS_IT_IS = '. If nothing else is wrong, send this order as it is';

/** What follows from a row that was in doubt and is settled, after what became of it. `lackIn` reads it. */
export const ROW_SETTLED = `: it is no row of this order any more, so do not add it here${SEND_AS_IT_IS}`;

/** The last one: an API's message may contain a path in parentheses. */
const NOTE = /^.* \((line \d{1,15}|\/[^\n]{1,500}) of batch ([\w.-]{1,200})\)$/s;

/** A place in words: `line 7`, or the pointer of a JSON file, `/orders/3`. */
export function placeText({ line, pointer = '' }: Place): string {
  return pointer === '' ? `line ${line}` : pointer;
}

/** The message of a record that has no error itself. */
export const PART_OF_ORDER = 'part of this order';

/** In the warning about cells that a program changed in a fix file. */
export const WERE_RESTORED = 'which were restored';

/** The end of each message in a fix file, for people and for `readFixNote`. */
export function fixNote({ batch, place }: FixTarget): string {
  return ` (${place} of batch ${batch})`;
}

/** Reads the note back; undefined when there is none. */
export function readFixNote(message: string): FixTarget | undefined {
  const [, place, batch] = NOTE.exec(message) ?? [];
  return place === undefined || batch === undefined ? undefined : { place, batch };
}

/** The copy of a fix file with what po-sync wrote: people correct the file itself in the folder of the report, and move it. */
export const asWritten = (name: string): string => `.${name}`;

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
