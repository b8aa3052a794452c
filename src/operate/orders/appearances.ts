import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { type Closings, closedBy, type DeadLetter } from '../../order/dead-letter.ts';
import { needsPerson, type OrderResult } from '../../order/outcome.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { readDeadLetters, withLastAnswer } from '../../report/dead-letters.ts';
import { type Report, readReport, reportNames } from '../../report/report.ts';
import { readResults } from '../../report/results.ts';
import type { OperatorContext } from '../operator-context.ts';

/** One row of an order in the report of a finished batch, or of a batch in progress as far as the ledger knows it. */
export type Appearance = {
  batch: string;
  source: string;
  file: string;
  /** When the file was taken, ISO 8601. */
  startedAt: string;
  /** The person who submitted it at the admin port. */
  by?: string;
  result: OrderResult;
  deadLetter?: DeadLetter;
  /** Its file has no report and no fix file yet. */
  inProgress?: true;
};

/** The end of a text about a file; empty for one that a source took. */
export function handedIn(by: string | undefined): string {
  return by === undefined ? '' : `, submitted by ${by}`;
}

/** Lines of an order that are named. */
const LINES_SHOWN = 20;

/** `, lines 7, 8` of all rows of the order where they are known, else of its first; empty while no line is known. */
export function lineText({ result: { line }, deadLetter }: Appearance): string {
  const { lines = [line] } = deadLetter?.location ?? {};
  if (line === 0) return '';
  return `, ${lines.length < 2 ? 'line' : 'lines'} ${lines.slice(0, LINES_SHOWN).join(', ')}`;
}

/** Every appearance of an order number in the reports that are kept, oldest first. Reads each results.csv once. */
export async function findAppearances(
  number: string,
  context: OperatorContext,
): Promise<Appearance[]> {
  const reports = context.config.reports.path;
  const found: Appearance[] = [];
  for (const name of await reportNames(reports)) {
    found.push(...(await inReport(number, join(reports, name), context).catch(noneIfGone)));
  }
  return found;
}

async function inReport(
  number: string,
  folder: string,
  context: OperatorContext,
): Promise<Appearance[]> {
  if (!(await contains(join(folder, 'results.csv'), number.replaceAll('"', '""')))) return [];
  const report = await readReport(folder);
  // A copy of a report under another name is none.
  if (report?.environment !== context.config.environment || report.batch !== basename(folder))
    return [];
  const results: OrderResult[] = [];
  for await (const result of readResults(join(folder, 'results.csv'))) {
    if (result.purchaseOrderNumber === number) results.push(result);
  }
  const deadLetters = results.some(({ outcome }) => needsPerson(outcome))
    ? await deadLettersOf(number, folder, report, context)
    : [];
  return results.map((result) => {
    const { batch, source, file, startedAt, by } = report;
    const deadLetter = deadLetters.find(
      ({ location, kind }) => location.line === result.line && kind === result.outcome,
    );
    const more = { ...(by && { by }), ...(deadLetter && { deadLetter }) };
    return { batch, source, file, startedAt, result, ...more };
  });
}

async function deadLettersOf(
  number: string,
  folder: string,
  { batch }: Report,
  { batches }: OperatorContext,
): Promise<DeadLetter[]> {
  const closings = await batches.closings(batch);
  const deadLetters: DeadLetter[] = [];
  for await (const deadLetter of readDeadLetters(folder)) {
    if (deadLetter.purchaseOrderNumber === number)
      deadLetters.push(withClosing(deadLetter, closings));
  }
  return deadLetters;
}

/** Adds what closed a dead letter after its report was written. */
export function withClosing(deadLetter: DeadLetter, closings: Closings): DeadLetter {
  const closing = deadLetter.closed ? undefined : closings.get(deadLetter.id);
  return closing === undefined ? deadLetter : { ...deadLetter, closed: closedBy(closing) };
}

/** Adds the current state and the last answer of each order, if they changed since the report. */
export async function withLedgerState(
  page: readonly FoundDeadLetter[],
  { ledger }: Pick<OperatorContext, 'ledger'>,
): Promise<FoundDeadLetter[]> {
  const known = await ledger.lookup(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
  return page.map((reported, i) => {
    const one = known[i];
    const deadLetter = withLastAnswer(reported, one);
    if (deadLetter.closed) return deadLetter;
    if (one?.kind !== 'open' || one.entry.batch !== deadLetter.batch) return deadLetter;
    const { state } = one.entry;
    return state === deadLetter.kind ? deadLetter : { ...deadLetter, now: state };
  });
}

/** Whether the text occurs anywhere in a file. Most files do not contain it and need not be parsed. */
async function contains(path: string, text: string): Promise<boolean> {
  const wanted = Buffer.from(text);
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const piece = Buffer.concat([tail, chunk]);
    if (piece.includes(wanted)) return true;
    tail = piece.subarray(Math.max(0, piece.length - wanted.length + 1));
  }
  return false;
}

function noneIfGone(error: unknown): [] {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
  throw error;
}
