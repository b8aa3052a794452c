import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type Closed, closingsOf, type DeadLetter, type End } from '../../order/dead-letter.ts';
import { needsPerson, type OrderResult } from '../../order/outcome.ts';
import { escapeFormula } from '../../order/spreadsheet.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { csvLine, PLAIN_DIALECT } from '../../report/lines.ts';
import { readReport } from '../../report/report.ts';
import { RESULT_COLUMNS, readResults, resultCells } from '../../report/results.ts';
import type { OperatorContext } from '../operator-context.ts';
import { withClosing } from '../orders/appearances.ts';

/** A finished batch whose orders are listed. `hasLetters`: some of them needed a person. */
export type ListedBatch = { batch: string; file: string; hasLetters: boolean };

type ListContext = Pick<OperatorContext, 'batches' | 'config'>;

const COLUMNS = ['file', 'batch', ...RESULT_COLUMNS, 'settled', 'settledAt', 'settledIn'];

/** Characters that are passed on together. */
const PIECE = 64 * 1024;

/** Those of the batches whose reports are gone. */
export async function withoutReport(listed: readonly ListedBatch[], { config }: ListContext): Promise<ListedBatch[]> {
  const missing: ListedBatch[] = [];
  for (const one of listed) {
    const names = one.hasLetters ? ['results.csv', 'dead-letters.json'] : ['results.csv'];
    const paths = names.map((name) => join(config.reports.path, one.batch, name));
    await Promise.all(paths.map((path) => access(path))).catch(() => missing.push(one));
  }
  return missing;
}

/**
 * Those of the batches whose `results.csv` has fewer orders than their report counts; of `accepted` orders only, if that is
 * asked. Their file was gone when the report was written, or somebody changed the list.
 */
export async function withoutRows<One extends { batch: string }>(
  listed: readonly One[],
  { config }: Pick<ListContext, 'config'>,
  { accepted }: { accepted: boolean },
): Promise<One[]> {
  const lacking: One[] = [];
  for (const one of listed) {
    const folder = join(config.reports.path, one.batch);
    const counts = (await readReport(folder))?.counts;
    let rows = 0;
    for await (const { outcome } of readResults(join(folder, 'results.csv'))) {
      if (!accepted || outcome === 'accepted') rows += 1;
    }
    if (counts === undefined || rows < (accepted ? counts.accepted : counts.orders)) lacking.push(one);
  }
  return lacking;
}

/**
 * All orders of several batches as one CSV file in pieces: the lines of each `results.csv` after the file and the batch,
 * and what settled an order that needed a person. `accepted`: only orders that were accepted, each once. Reads one report
 * at a time, and no report into memory. Throws when a report expires in between.
 */
export async function* orderList(
  listed: readonly ListedBatch[],
  context: ListContext,
  { accepted }: { accepted: boolean },
): AsyncGenerator<string> {
  async function* lines() {
    for (const one of listed) {
      for await (const { result, closed } of resultsOf(one, context)) {
        if (accepted && acceptedAt(one, result, closed) === undefined) continue;
        yield listLine([one.file, one.batch, ...resultCells(result), ...settledCells(closed)]);
      }
    }
  }
  yield listLine(COLUMNS);
  yield* inPieces(lines());
}

/** A line of a list, without formulas. */
export function listLine(cells: readonly string[]): string {
  return csvLine(cells.map(escapeFormula), PLAIN_DIALECT);
}

export async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** `line`: of its batch. `at`: when the API accepted it, or it became known that it had. */
export type AcceptedOrder = { number: string; line: number; at: string };

/** The orders that a batch brought and that were accepted. */
export async function* acceptedIn(one: ListedBatch, context: ListContext): AsyncGenerator<AcceptedOrder> {
  for await (const { result, closed } of resultsOf(one, context)) {
    const at = acceptedAt(one, result, closed);
    if (at !== undefined) yield { number: result.purchaseOrderNumber, line: result.line, at };
  }
}

type Found = { result: OrderResult; closed: Closed | undefined };

/** The orders of a batch. Both files of its report have them in the order of the file. */
async function* resultsOf({ batch, hasLetters }: ListedBatch, { config, batches }: ListContext): AsyncGenerator<Found> {
  const folder = join(config.reports.path, batch);
  const closings = closingsOf(hasLetters ? await batches.closings(batch) : []);
  const letters = hasLetters ? readDeadLetters(folder) : undefined;
  try {
    let letter = await nextOf(letters);
    for await (const result of readResults(join(folder, 'results.csv'))) {
      if (letter === undefined || !isOf(letter, result)) {
        yield { result, closed: undefined };
        continue;
      }
      yield { result, closed: withClosing(letter, closings).closed };
      letter = await nextOf(letters);
    }
  } finally {
    await letters?.return(undefined);
  }
}

async function nextOf(letters: AsyncGenerator<DeadLetter> | undefined): Promise<DeadLetter | undefined> {
  const next = await letters?.next();
  return next?.done ? undefined : next?.value;
}

function isOf({ purchaseOrderNumber, location }: DeadLetter, result: OrderResult): boolean {
  const isSame = location.line === result.line && purchaseOrderNumber === result.purchaseOrderNumber;
  return isSame && needsPerson(result.outcome);
}

/** How the API came to have an order that needed a person: it took it, or a person or its list said so. */
const ACCEPTED = ['accepted', 'confirmed', 'rebuilt'];

/** When the order that this batch brought was accepted, also when it was sent again later; undefined if it was not. */
function acceptedAt({ batch }: ListedBatch, { outcome, at }: OrderResult, closed: Closed | undefined) {
  if (outcome === 'accepted') return at;
  if (closed === undefined || closed.waitsIn !== undefined) return undefined;
  const end: End = closed.end ?? closed;
  return ACCEPTED.includes(end.by) && (end.batch ?? batch) === batch ? end.at : undefined;
}

/** Nothing while it needs a person; `waits` while its rows need one in a later file. */
function settledCells(closed: Closed | undefined): string[] {
  if (closed === undefined) return ['', '', ''];
  if (closed.waitsIn !== undefined) return ['waits', '', closed.waitsIn];
  const { by, at, batch = '' } = closed.end ?? closed;
  return [by, at, batch];
}
