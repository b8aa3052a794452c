import type { DeadLetter } from '../../order/dead-letter.ts';
import { fixNote, PART_OF_ORDER, placeText } from '../../order/fixing.ts';
import type { CheckedOrder } from '../../order/order.ts';
import { type Place, type Problem, problemText, type SourceRecord } from '../../order/record.ts';
import { onOneLine } from '../../order/text.ts';

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

/** A failed check says what to enter; the message of a conflict says only what is known. */
const CONFLICT_REMEDY =
  'if it is the same order, leave it out here and discard it in the dashboard; enter another number only if it really is another order';

/**
 * What is wrong with each record of an order, in the order of the records. An error of the complete order (the API
 * refused it, say) is shown at the only record whose article it names, otherwise at the record that the dead letter
 * points to. The latter also names the dead letter's place and batch, so that the dead letter is found when the record
 * comes back with another number. The other records name their own place.
 */
export function recordErrors(order: CheckedOrder, deadLetter: DeadLetter, batch: string): RecordError[] {
  const located = locatedRecord(order, deadLetter);
  const blamed = namedRecord(order, deadLetter) ?? located;
  return order.records.map((record, index) => {
    const own = (deadLetter.problems ?? []).filter((problem) => isAbout(problem, record));
    const place = placeText(index === located ? deadLetter.location : record.place);
    if (index === blamed) return noted(errorOf(record, ...blame(order, deadLetter, own)), place, batch);
    const message = own.length === 0 ? PART_OF_ORDER : messagesOf(own);
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
  const words = new Set(message.split(/[\s"'`,;:()[\]{}<>]+/).flatMap((word) => [word, word.replace(/[.!?]+$/, '')]));
  const named = order.order.items.flatMap(({ articleCode }, index) => (words.has(articleCode) ? [index] : []));
  return named.length === 1 ? named[0] : undefined;
}

/** The blamed record's own problems and those of no record; without any, the dead letter's code and message. */
function blame(order: CheckedOrder, deadLetter: DeadLetter, own: readonly Problem[]): [code: string, message: string] {
  const unplaced = (deadLetter.problems ?? []).filter(
    (problem) => !order.records.some((record) => isAbout(problem, record)),
  );
  const problems = [...own, ...unplaced];
  if (problems.length > 0) return [codesOf(problems), messagesOf(problems)];
  const { kind, code, message } = deadLetter;
  return [code, kind === 'conflict' ? `${message}; ${CONFLICT_REMEDY}` : message];
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
  const short = oneLine.length > LONGEST_MESSAGE ? `${oneLine.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : oneLine;
  return { line: record.place.line, code, message: short };
}
