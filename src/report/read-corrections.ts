import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { leftOpenIn } from '../order/batch.ts';
import { closingWord } from '../order/closing-text.ts';
import {
  type Change,
  type Closed,
  type Closings,
  type Corrected,
  closingFor,
  type DeadLetter,
  lacksIn,
  placesOf,
} from '../order/dead-letter.ts';
import { ROW_SETTLED } from '../order/fixing.ts';
import { CORRECTIONS, type CorrectedOrder, MOST_CHANGES } from './corrections.ts';
import { readList } from './dead-letters.ts';
import { readReport } from './report.ts';
import { signatureOf } from './signature.ts';

/** What later batches say about the dead letters of one: the batch that brought rows back, and the place of each row. */
export type Corrections = ReadonlyMap<string, ReadonlyMap<string, CorrectedOrder>>;

/** Reads what the reports of `later` batches corrected in the dead letters of `batch`. */
export async function readCorrections(reports: string, batch: string, later: Iterable<string>): Promise<Corrections> {
  const found = new Map<string, Map<string, CorrectedOrder>>();
  for (const name of new Set(later)) {
    const places = new Map<string, CorrectedOrder>();
    for await (const one of correctionsIn(join(reports, name))) {
      if (one.batch === batch) for (const place of one.places) places.set(place, one);
    }
    if (places.size > 0) found.set(name, places);
  }
  return found;
}

async function* correctionsIn(folder: string): AsyncGenerator<CorrectedOrder> {
  try {
    yield* readList<CorrectedOrder>(join(folder, CORRECTIONS));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** What was corrected in a dead letter that `closed` closes. What an older report said stays when its source expired. */
export function correctedIn(letter: DeadLetter, closed: Closed, corrections: Corrections): Corrected {
  const { batch } = closed;
  const rows = batch === undefined ? undefined : corrections.get(batch);
  const orders = new Set(placesOf(letter).flatMap((place) => rows?.get(place) ?? []));
  if (orders.size === 0) return keptFrom(letter.closed, batch);
  // A row that left its order came back as another order: it was not removed.
  const isTrue = ({ place, field }: Change) => field !== '' || !rows?.has(place);
  const changes = [...orders].flatMap((one) => one.changes.filter(isTrue)).slice(0, MOST_CHANGES);
  const number = [...orders].map((one) => one.number).find((one) => one !== letter.purchaseOrderNumber);
  return { changes, ...(number === undefined ? {} : { number }) };
}

function keptFrom(before: DeadLetter['closed'], batch: string | undefined): Corrected {
  if (before === undefined || before.batch !== batch) return {};
  const { changes, number } = before;
  return { ...(changes === undefined ? {} : { changes }), ...(number === undefined ? {} : { number }) };
}

/**
 * An open dead letter that says what became of rows without a number that were in doubt, where they are settled. Where
 * that is its first problem, it has another signature: nobody has to decide on the row any more.
 */
export function withSettledDoubts(letter: DeadLetter, closings: Closings, corrections: Corrections): DeadLetter {
  if (letter.closed !== undefined) return letter;
  const found = (message: string) => settledDoubt(message, closings, corrections);
  const problems = letter.problems?.map((one) => ({ ...one, message: found(one.message)?.message ?? one.message }));
  const first = found(letter.message);
  if (first === undefined) return { ...letter, ...(problems && { problems }) };
  const { code, purchaseOrderNumber: own } = letter;
  const { message, number = '' } = first;
  const signature = signatureOf({ code, message, known: [own, number] });
  return { ...letter, message, signature, ...(problems && { problems }) };
}

/** What became of the row that a message names; `number`: that it has now. Undefined if it is not settled. */
function settledDoubt(message: string, closings: Closings, corrections: Corrections) {
  const [lack] = lacksIn([{ message }]);
  const [, line] = /^line (\d+)$/.exec(lack?.kind === 'in-doubt' ? (lack.row ?? '') : '') ?? [];
  if (lack === undefined || line === undefined) return undefined;
  const row = { purchaseOrderNumber: '', kind: 'invalid' as const, location: { line: Number(line) } };
  const { batch = '', by, waitsIn } = closingFor(row, closings) ?? {};
  if (by === undefined || waitsIn !== undefined) return undefined;
  const number = corrections.get(batch)?.get(`line ${line}`)?.number;
  const was = number === undefined ? `was ${closingWord(by)}` : `was sent as ${number}`;
  return { message: `line ${line} ${was}${ROW_SETTLED}`, number };
}

export type Find = Pick<Batches, 'find'>;

/** Warnings without those about open orders of an earlier file, of which nothing is open any more. */
export async function currentWarnings(warnings: readonly string[], { find }: Find): Promise<string[]> {
  const isCurrent = async (warning: string) => {
    const batch = leftOpenIn(warning);
    return batch === undefined || (await find(batch))?.open !== 0;
  };
  const are = await Promise.all(warnings.map(isCurrent));
  return warnings.filter((_, i) => are[i]);
}

/** Those of some later batches whose report warns of open orders of `batch`. */
export async function warningOf(batch: string, later: readonly string[], reports: string): Promise<string[]> {
  const names = [...new Set(later)].filter((name) => name !== batch);
  const found = await Promise.all(names.map((name) => readReport(join(reports, name)).catch(() => undefined)));
  return names.filter((_, i) => found[i]?.warnings.some((warning) => leftOpenIn(warning) === batch));
}

/** A batch with its warnings as they are now. */
export async function withCurrentWarnings(batch: Batch, batches: Find): Promise<Batch> {
  const { inspection } = batch;
  if (inspection === undefined) return batch;
  return { ...batch, inspection: { ...inspection, warnings: await currentWarnings(inspection.warnings, batches) } };
}
