import { iso } from '../core/format.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { readOpenDeadLetters } from '../ledger/dead-letters.ts';
import type { EntryState, StoredResult } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { idOf } from '../order/letter-id.ts';
import { type DeadLetterKind, needsPerson } from '../order/outcome.ts';
import { saysOf, UNEXPLAINED } from '../order/problem.ts';
import type { Store } from '../redis/store.ts';
import { withLastAnswer } from '../report/dead-letters.ts';
import { signatureOf } from '../report/signature.ts';
import { problemText, reasonText } from '../wording/problem.ts';

/** A dead letter with the batch that it belongs to. */
export type FoundDeadLetter = DeadLetter & {
  batch: string;
  source: string;
  file: string;
  /** The current state of its order, if it is no longer that of the dead letter. */
  now?: EntryState;
};

export type ProgressContext = {
  batches: Batches;
  store: Pick<Store, 'redis' | 'keys'>;
  ledger: Ledger;
};

/** The dead letters of batches that have no report yet, or of these batches, as far as the ledger knows them. */
export async function* deadLettersInProgress(
  context: ProgressContext,
  of?: Batch[],
): AsyncGenerator<FoundDeadLetter> {
  const { batches, store } = context;
  const underWay = new Map((of ?? (await batches.underWay())).map((batch) => [batch.batch, batch]));
  const seen = new Set<string>();
  if (underWay.size === 0) return;
  let cursor = '0';
  do {
    const [next, flat] = await store.redis.hscan(store.keys.waiting, cursor, 'COUNT', 200);
    cursor = next;
    const texts = flat.filter((_, i) => i % 2 === 1);
    // Together, so that a page takes a few round trips and not a few for each dead letter.
    const found = await Promise.all(texts.map(ofNumber));
    yield* found.flat();
  } while (cursor !== '0');

  async function ofNumber(text: string): Promise<FoundDeadLetter[]> {
    const found: FoundDeadLetter[] = [];
    for (const { batch: name, ordinal, number } of readOpenDeadLetters(text)) {
      const batch = underWay.get(name);
      // A hash that grows during the scan may show a number twice.
      if (batch === undefined || seen.has(idOf(name, ordinal))) continue;
      seen.add(idOf(name, ordinal));
      found.push(...(await letterInProgress(number, ordinal, batch, context)));
    }
    return found;
  }
}

/** A dead letter of a batch that has no report yet, and when the file of that batch was taken. */
export type DeadLetterInProgress = { letter: FoundDeadLetter; startedAt: number; by?: string };

/** The dead letters of one order in batches that have no report yet. */
export async function deadLettersInProgressOf(
  number: string,
  context: ProgressContext,
): Promise<DeadLetterInProgress[]> {
  const { redis, keys } = context.store;
  const text = await redis.hget(keys.waiting, keys.keyOf(number));
  if (text === null) return [];
  const underWay = new Map((await context.batches.underWay()).map((batch) => [batch.batch, batch]));
  const found: DeadLetterInProgress[] = [];
  for (const { batch: name, ordinal, number: own } of readOpenDeadLetters(text)) {
    const batch = underWay.get(name);
    if (batch === undefined || own !== number) continue;
    const { startedAt, by } = batch;
    const letters = await letterInProgress(number, ordinal, batch, context);
    found.push(
      ...letters.map((letter) => ({ letter, startedAt, ...(by === undefined ? {} : { by }) })),
    );
  }
  return found;
}

export async function letterInProgress(
  number: string,
  ordinal: number,
  batch: Batch,
  context: ProgressContext,
): Promise<FoundDeadLetter[]> {
  const [result = invalidIn(batch)] = await context.batches.results(batch.batch, [ordinal]);
  return needsPerson(result.outcome)
    ? [await deadLetterOf(number, ordinal, batch, result, context)]
    : [];
}

async function deadLetterOf(
  number: string,
  ordinal: number,
  { batch, source, name: file }: Batch,
  result: StoredResult,
  { ledger }: Pick<ProgressContext, 'ledger'>,
): Promise<FoundDeadLetter> {
  const [known] = await ledger.lookup([number]);
  const isSame =
    known?.kind === 'open' && known.entry.batch === batch && known.entry.ordinal === ordinal;
  const entry = isSame ? known.entry : undefined;
  const { code, httpStatus, response, attempts, at, firstAt = at, failed } = result;
  const kind = result.outcome as DeadLetterKind;
  const { place = { line: 0 }, ...read }: Partial<NonNullable<typeof failed>> = failed ?? {};
  const first = read.problems?.[0];
  const message = first ? problemText(first) : reasonText(result);
  const letter: FoundDeadLetter = {
    id: idOf(batch, ordinal),
    revision: 1,
    purchaseOrderNumber: number,
    kind,
    code,
    facts: result.facts,
    message,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(response === undefined ? {} : { response }),
    ...read,
    signature: signatureOf(first ?? { code, says: saysOf(result) }),
    attempts,
    firstAt: iso(firstAt),
    lastAt: iso(at),
    location: entry?.place ?? place,
    ...(entry === undefined ? {} : { payload: entry.order }),
    ...(entry === undefined || entry.state === kind ? {} : { now: entry.state }),
    batch,
    source,
    file,
  };
  return withLastAnswer(letter, isSame ? known : undefined);
}

/** Of many invalid orders in a batch, only the first are kept; the report reads the others from the file again. */
function invalidIn({ startedAt }: Batch): StoredResult {
  return { outcome: 'invalid', attempts: 0, at: startedAt, ...UNEXPLAINED };
}
