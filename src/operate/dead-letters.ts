import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { claimTimeOf } from '../order/batch.ts';
import { type Closings, closingFor, closingsOf } from '../order/closing.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readDeadLetters } from '../report/dead-letters.ts';
import { type Report, readReport } from '../report/report.ts';
import { lettersUnderWay } from './dead-letters-in-progress.ts';
import type { DeadLetterFilter, FoundDeadLetter } from './found-dead-letter.ts';

export type DeadLetterDeps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  reports: string;
  environment: string;
};

const PAGE = 200;

/**
 * The dead letters of the environment that pass the filter, the oldest batch first: from the reports, and of batches
 * under way from the ledger. One page is in memory at a time.
 */
export async function* deadLetters(filter: DeadLetterFilter, deps: DeadLetterDeps): AsyncGenerator<FoundDeadLetter> {
  for (const name of await reportNames(deps.reports, filter)) {
    const report = await readReport(join(deps.reports, name));
    if (report?.environment !== deps.environment || report.finishedAt === null) continue;
    if (report.finishedAt < iso(filter.since ?? 0)) continue;
    const batch = await deps.batches.find(name);
    if (!filter.all && (batch?.open ?? report.open) === 0) continue;
    const closings = closingsOf(await deps.batches.closings(name));
    yield* pagewise(lettersOf(join(deps.reports, name), report, closings, filter), deps.ledger);
  }
  for await (const deadLetter of lettersUnderWay(deps)) if (passes(deadLetter, filter)) yield deadLetter;
}

async function reportNames(reports: string, { batch = '' }: DeadLetterFilter): Promise<string[]> {
  const names: string[] = await readdir(reports).catch(() => []);
  return names.filter((name) => claimTimeOf(name) !== undefined && name.endsWith(batch)).sort();
}

async function* lettersOf(
  folder: string,
  { batch, source, file }: Report,
  closings: Closings,
  filter: DeadLetterFilter,
): AsyncGenerator<FoundDeadLetter> {
  try {
    for await (const deadLetter of readDeadLetters(folder)) {
      const found = { ...current(deadLetter, closings), batch, source, file };
      if (passes(found, filter)) yield found;
    }
  } catch (error) {
    // It expired while it was read.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** With what closed it since the report was written. */
function current(deadLetter: DeadLetter, closings: Closings): DeadLetter {
  const closing = deadLetter.closed ? undefined : closingFor(deadLetter, closings);
  if (closing === undefined) return deadLetter;
  const { number: _, kind: __, place: ___, ...closed } = closing;
  return { ...deadLetter, closed };
}

function passes(deadLetter: FoundDeadLetter, filter: DeadLetterFilter): boolean {
  const { batch, kind, signature, since, order, all } = filter;
  if (!all && deadLetter.closed !== undefined) return false;
  if (batch !== undefined && !deadLetter.batch.endsWith(batch)) return false;
  if (kind !== undefined && deadLetter.kind !== kind) return false;
  if (signature !== undefined && deadLetter.signature !== signature) return false;
  if (since !== undefined && deadLetter.lastAt < iso(since)) return false;
  return order === undefined || deadLetter.purchaseOrderNumber === order;
}

/** Adds what the ledger knows now, a page at a time. */
async function* pagewise(deadLetters: AsyncIterable<FoundDeadLetter>, ledger: Ledger): AsyncGenerator<FoundDeadLetter> {
  let page: FoundDeadLetter[] = [];
  for await (const deadLetter of deadLetters) {
    page.push(deadLetter);
    if (page.length < PAGE) continue;
    yield* await withLedger(page, ledger);
    page = [];
  }
  yield* await withLedger(page, ledger);
}

async function withLedger(page: readonly FoundDeadLetter[], ledger: Ledger): Promise<FoundDeadLetter[]> {
  const known = await ledger.lookup(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
  return page.map((deadLetter, i) => {
    const one = known[i];
    if (deadLetter.closed || one?.kind !== 'open' || one.entry.batch !== deadLetter.batch) return deadLetter;
    const { state } = one.entry;
    return state === deadLetter.kind ? deadLetter : { ...deadLetter, now: state };
  });
}
