import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { claimTimeOf } from '../order/batch.ts';
import { type Closings, closingFor, closingsOf } from '../order/closing.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readLetters } from '../report/read-dead-letters.ts';
import { readReport } from '../report/read-report.ts';
import type { Report } from '../report/report.ts';
import { lettersUnderWay } from './dead-letters-in-progress.ts';
import type { FoundLetter, LetterFilter } from './found-dead-letter.ts';

export type LetterDeps = {
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
export async function* deadLetters(filter: LetterFilter, deps: LetterDeps): AsyncGenerator<FoundLetter> {
  for (const name of await reportNames(deps.reports, filter)) {
    const report = await readReport(join(deps.reports, name));
    if (report?.environment !== deps.environment || report.finishedAt === null) continue;
    if (report.finishedAt < isoOf(filter.since ?? 0)) continue;
    const batch = await deps.batches.find(name);
    if (!filter.all && (batch?.open ?? report.open) === 0) continue;
    const closings = closingsOf(await deps.batches.closings(name));
    yield* pagewise(lettersOf(join(deps.reports, name), report, closings, filter), deps.ledger);
  }
  for await (const letter of lettersUnderWay(deps)) if (passes(letter, filter)) yield letter;
}

async function reportNames(reports: string, { batch = '' }: LetterFilter): Promise<string[]> {
  const names: string[] = await readdir(reports).catch(() => []);
  return names.filter((name) => claimTimeOf(name) !== undefined && name.endsWith(batch)).sort();
}

async function* lettersOf(
  folder: string,
  { batch, source, file }: Report,
  closings: Closings,
  filter: LetterFilter,
): AsyncGenerator<FoundLetter> {
  try {
    for await (const letter of readLetters(folder)) {
      const found = { ...current(letter, closings), batch, source, file };
      if (passes(found, filter)) yield found;
    }
  } catch (error) {
    // It expired while it was read.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** With what closed it since the report was written. */
function current(letter: DeadLetter, closings: Closings): DeadLetter {
  const closing = letter.closed ? undefined : closingFor(letter, closings);
  if (closing === undefined) return letter;
  const { number: _, kind: __, place: ___, ...closed } = closing;
  return { ...letter, closed };
}

function passes(letter: FoundLetter, filter: LetterFilter): boolean {
  const { batch, kind, signature, since, order, all } = filter;
  if (!all && letter.closed !== undefined) return false;
  if (batch !== undefined && !letter.batch.endsWith(batch)) return false;
  if (kind !== undefined && letter.kind !== kind) return false;
  if (signature !== undefined && letter.signature !== signature) return false;
  if (since !== undefined && letter.lastAt < isoOf(since)) return false;
  return order === undefined || letter.purchaseOrderNumber === order;
}

/** Adds what the ledger knows now, a page at a time. */
async function* pagewise(letters: AsyncIterable<FoundLetter>, ledger: Ledger): AsyncGenerator<FoundLetter> {
  let page: FoundLetter[] = [];
  for await (const letter of letters) {
    page.push(letter);
    if (page.length < PAGE) continue;
    yield* await withLedger(page, ledger);
    page = [];
  }
  yield* await withLedger(page, ledger);
}

async function withLedger(page: readonly FoundLetter[], ledger: Ledger): Promise<FoundLetter[]> {
  const known = await ledger.lookup(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
  return page.map((letter, i) => {
    const one = known[i];
    if (letter.closed || one?.kind !== 'open' || one.entry.batch !== letter.batch) return letter;
    const { state } = one.entry;
    return state === letter.kind ? letter : { ...letter, now: state };
  });
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
