import type { DeadLetter } from '../../order/dead-letter.ts';
import { fixNote, PART_OF_ORDER, placeText } from '../../order/fixing.ts';
import type { CheckedOrder } from '../../order/order.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { type Place, type Problem, problemText, type SourceRecord } from '../../order/record.ts';
import { onOneLine, shorten } from '../../order/text.ts';

/**
 * The pieces of a fix file in the order they are written: opening, the records of each order, closing.
 * A fix file has the records of every order that needs a person, in the input's own form, never compressed.
 */
export type FixForm = {
  opening(): Uint8Array;
  recordsOf(order: CheckedOrder, deadLetter: DeadLetter): Uint8Array;
  closing(): Uint8Array;
};

/** What the error columns of one record show. `line` is its line in the file as it was dropped. */
export type RecordError = { line: number; code: string; message: string };

const LONGEST_MESSAGE = 1000;
/** Characters of the message of a complete order: what follows it must not be cut. */
const LONGEST_SHARED = 600;

/** A failed check says what to enter; the message of a conflict says only what is known. */
const CONFLICT_REMEDY =
  'if it is the same order, leave it out here and discard it in the dashboard; enter another number only if it really is another order';

/** Of an order with several rows that has one fault: what follows the message at the first row, and what is before it at the others. */
const OF_ALL: Record<Exclude<DeadLetterKind, 'invalid'>, [after: string, before: string]> = {
  conflict: ['The complete order is in conflict: this is about', 'which is in conflict'],
  refused: [
    'The API refused the complete order and does not say which row: check',
    'which the API refused',
  ],
  failed: ['The complete order was not sent: this is about', 'which was not sent'],
  inDoubt: ['The complete order is in doubt: this is about', 'which is in doubt'],
};

/**
 * What is wrong with each record of an order, in the order of the records. An error of the complete order (the API
 * refused it, say) is shown at the only record whose article it names. Otherwise every record shows it, because a person
 * must not look for it in one alone, and the record that the dead letter points to also has its code. That record also
 * names the dead letter's place and batch, so that the dead letter is found when the record comes back with another
 * number. The other records name their own place.
 */
export function recordErrors(
  order: CheckedOrder,
  deadLetter: DeadLetter,
  batch: string,
): RecordError[] {
  const located = locatedRecord(order, deadLetter);
  const named = namedRecord(order, deadLetter);
  const isOfAll = order.records.length > 1 && named === undefined;
  return order.records.map((record, index) => {
    const own = (deadLetter.problems ?? []).filter((problem) => isAbout(problem, record));
    const place = placeText(index === located ? deadLetter.location : record.place);
    if (index === (named ?? located))
      return noted(errorOf(record, ...blame(order, deadLetter, own, isOfAll)), place, batch);
    const message = own.length === 0 ? partOf(deadLetter, isOfAll) : messagesOf(own);
    return noted(errorOf(record, codesOf(own), message), place, batch);
  });
}

function noted(error: RecordError, place: string, batch: string): RecordError {
  return { ...error, message: error.message + fixNote({ batch, place }) };
}

/** By its pointer where there is one, because all objects of a file may be on one line. */
function locatedRecord(order: CheckedOrder, { location }: DeadLetter): number {
  const index = order.records.findIndex((record) => isAbout(location, record));
  return Math.max(index, 0);
}

/** The only record of a valid order whose article code the message names; undefined if none or several are named. */
function namedRecord(order: CheckedOrder, { message }: DeadLetter): number | undefined {
  if (!order.valid || order.order.items.length !== order.records.length) return undefined;
  const words = new Set(
    message.split(/[\s"'`,;:()[\]{}<>]+/).flatMap((word) => [word, word.replace(/[.!?]+$/, '')]),
  );
  const named = order.order.items.flatMap(({ articleCode }, index) =>
    words.has(articleCode) ? [index] : [],
  );
  return named.length === 1 ? named[0] : undefined;
}

/** The blamed record's own problems and those of no record; without any, the dead letter's code and message. */
function blame(
  order: CheckedOrder,
  deadLetter: DeadLetter,
  own: readonly Problem[],
  isOfAll: boolean,
) {
  const unplaced = (deadLetter.problems ?? []).filter(
    (problem) => !order.records.some((record) => isAbout(problem, record)),
  );
  const problems = [...own, ...unplaced];
  if (problems.length > 0) return [codesOf(problems), messagesOf(problems)] as const;
  const { kind, code, message } = deadLetter;
  const full = kind === 'conflict' ? `${message}; ${CONFLICT_REMEDY}` : message;
  if (kind === 'invalid' || !isOfAll) return [code, full] as const;
  const shared = shorten(full.trim(), LONGEST_SHARED).replace(/(?<![.!?…])$/, '.');
  return [code, `${shared} ${OF_ALL[kind][0]} all ${order.records.length} rows.`] as const;
}

/** The message of a record without an error: the fault of its order, where it may be this record's too. */
function partOf({ kind, message, problems = [] }: DeadLetter, isOfAll: boolean): string {
  if (kind === 'invalid' || problems.length > 0 || !isOfAll) return PART_OF_ORDER;
  return `${PART_OF_ORDER}, ${OF_ALL[kind][1]}: ${shorten(message, LONGEST_SHARED)}`;
}

function isAbout(problem: Place, record: SourceRecord): boolean {
  const { line, pointer } = record.place;
  if (pointer === undefined || problem.pointer === undefined) return problem.line === line;
  return problem.pointer === pointer || problem.pointer.startsWith(`${pointer}/`);
}

function codesOf(problems: readonly Problem[]): string {
  return [...new Set(problems.map((problem) => problem.code))].join(', ');
}

function messagesOf(problems: readonly Problem[]): string {
  return problems.map(problemText).join(' | ');
}

function errorOf(record: SourceRecord, code: string, message: string): RecordError {
  const oneLine = onOneLine(message);
  const short =
    oneLine.length > LONGEST_MESSAGE
      ? `${oneLine.slice(0, LONGEST_MESSAGE).toWellFormed()}…`
      : oneLine;
  return { line: record.place.line, code, message: short };
}
