import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type Closed, closingsOf, type DeadLetter, type End } from '../../order/dead-letter.ts';
import { needsPerson, type OrderResult } from '../../order/outcome.ts';
import { escapeFormula } from '../../order/spreadsheet.ts';
import { readDeadLetters } from '../../report/dead-letters.ts';
import { csvLine, PLAIN_DIALECT } from '../../report/lines.ts';
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
 * All orders of several batches as one CSV file in pieces: the lines of each `results.csv` after the file and the batch,
 * and what settled an order that needed a person. `accepted`: only orders that were accepted, each once. Reads one report
 * at a time, and no report into memory. Throws when a report expires in between.
 */
export async function* orderList(
  listed: readonly ListedBatch[],
  context: ListContext,
  { accepted }: { accepted: boolean },
): AsyncGenerator<string> {
  let piece = csvLine(COLUMNS, PLAIN_DIALECT);
  for (const one of listed) {
    for await (const { result, closed } of resultsOf(one, context)) {
      if (accepted && !wasAccepted(one, result, closed)) continue;
      const cells = [one.file, one.batch, ...resultCells(result), ...settledCells(closed)];
      piece += csvLine(cells.map(escapeFormula), PLAIN_DIALECT);
      if (piece.length < PIECE) continue;
      yield piece;
      piece = '';
    }
  }
  yield piece;
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

/** Whether this batch brought the order that was accepted, also when it was sent again later. */
function wasAccepted({ batch }: ListedBatch, { outcome }: OrderResult, closed: Closed | undefined): boolean {
  if (outcome === 'accepted') return true;
  if (closed === undefined || closed.waitsIn !== undefined) return false;
  const end: End = closed.end ?? closed;
  return ACCEPTED.includes(end.by) && (end.batch ?? batch) === batch;
}

/** Nothing while it needs a person; `waits` while its rows need one in a later file. */
function settledCells(closed: Closed | undefined): string[] {
  if (closed === undefined) return ['', '', ''];
  if (closed.waitsIn !== undefined) return ['waits', '', closed.waitsIn];
  const { by, at, batch = '' } = closed.end ?? closed;
  return [by, at, batch];
}
