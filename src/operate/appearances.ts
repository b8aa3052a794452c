import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import type { Batches } from '../ledger/batches.ts';
import { claimTimeOf } from '../order/batch.ts';
import { closingFor, closingsOf } from '../order/closing.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { OrderResult } from '../order/order-result.ts';
import { needsPerson } from '../order/outcome.ts';
import { readDeadLetters } from '../report/dead-letters.ts';
import { type Report, readReport } from '../report/report.ts';
import { readResults } from '../report/results.ts';

/** An order as a finished batch tells of it. */
export type Appearance = {
  batch: string;
  source: string;
  file: string;
  /** When the file was taken, ISO 8601. */
  startedAt: string;
  result: OrderResult;
  deadLetter?: DeadLetter;
};

type Deps = { batches: Batches; reports: string; environment: string };

/** Every appearance of an order number in the reports that are kept, the oldest first. Reads each results.csv once. */
export async function findAppearances(number: string, deps: Deps): Promise<Appearance[]> {
  const names: string[] = await readdir(deps.reports).catch(() => []);
  const found: Appearance[] = [];
  for (const name of names.filter((one) => claimTimeOf(one) !== undefined).sort()) {
    found.push(...(await inReport(number, join(deps.reports, name), deps).catch(unlessGone)));
  }
  return found;
}

async function inReport(number: string, folder: string, deps: Deps): Promise<Appearance[]> {
  if (!(await mentions(join(folder, 'results.csv'), number.replaceAll('"', '""')))) return [];
  const report = await readReport(folder);
  if (report?.environment !== deps.environment) return [];
  const results: OrderResult[] = [];
  for await (const result of readResults(join(folder, 'results.csv'))) {
    if (result.purchaseOrderNumber === number) results.push(result);
  }
  const deadLetters = results.some(({ outcome }) => needsPerson(outcome))
    ? await lettersOf(number, folder, report, deps)
    : [];
  return results.map((result) => {
    const { batch, source, file, startedAt } = report;
    const deadLetter = deadLetters.find(
      ({ location, kind }) => location.line === result.line && kind === result.outcome,
    );
    return { batch, source, file, startedAt, result, ...(deadLetter ? { deadLetter } : {}) };
  });
}

async function lettersOf(number: string, folder: string, { batch }: Report, { batches }: Deps): Promise<DeadLetter[]> {
  const closings = closingsOf(await batches.closings(batch));
  const deadLetters: DeadLetter[] = [];
  for await (const deadLetter of readDeadLetters(folder)) {
    if (deadLetter.purchaseOrderNumber !== number) continue;
    const closing = deadLetter.closed ? undefined : closingFor(deadLetter, closings);
    deadLetters.push(closing ? { ...deadLetter, closed: closing } : deadLetter);
  }
  return deadLetters;
}

/** Whether a file holds the text anywhere: most do not, and need not be parsed. */
async function mentions(path: string, text: string): Promise<boolean> {
  const wanted = Buffer.from(text);
  let tail = Buffer.alloc(0);
  for await (const job of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const piece = Buffer.concat([tail, job]);
    if (piece.includes(wanted)) return true;
    tail = piece.subarray(Math.max(0, piece.length - wanted.length + 1));
  }
  return false;
}

function unlessGone(error: unknown): [] {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
  throw error;
}
