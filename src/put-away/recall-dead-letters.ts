import { join } from 'node:path';
import { isGone } from '../core/regular-file.ts';
import { doubtOf } from '../ledger/batches/recall.ts';
import { isUnderWay } from '../ledger/entry.ts';
import { createKnownInvalid } from '../ledger/known-invalid.ts';
import {
  createNumberClaims,
  createOldNumbers,
  madeOthers,
  takenRows,
} from '../ledger/number-claims.ts';
import { type Closing, closingFor, closingsOf, type DeadLetter } from '../order/dead-letter.ts';
import { type Former, formerOf, isRecognizable } from '../order/digest.ts';
import { placeText } from '../order/fixing.ts';
import { needsPerson, type OrderResult } from '../order/outcome.ts';
import { createList, readDeadLettersIfAny, stageOf } from '../report/dead-letters.ts';
import { writeFileWhole } from '../report/draft.ts';
import { pages } from '../report/lines.ts';
import type { Report } from '../report/report.ts';
import { readResults } from '../report/results.ts';
import { signatureOf } from '../report/signature.ts';
import {
  type ClosingDeps,
  createDeadLetterClosing,
  type FixedDeps,
  keepAsItWas,
} from './close-dead-letters.ts';
import { discardsIn } from './note-discards.ts';

/** Closes dead letters that the ledger has from before they were closed, as their report says. */
export function createReportedClosing(deps: ClosingDeps) {
  const { ledger, redis, keys } = deps;
  const deadLetters = createDeadLetterClosing(deps);
  const claims = createNumberClaims(deps);
  const oldNumbers = createOldNumbers(deps);

  /** Which of these are closed in their report and open in the ledger. */
  async function forgotten(batch: string, letters: readonly DeadLetter[]) {
    const closed = letters.flatMap((letter) =>
      letter.closed ? [{ letter, closed: letter.closed }] : [],
    );
    if (closed.length === 0) return [];
    const waiting = await redis.hmget(
      keys.waiting,
      ...closed.map(({ letter }) => letter.purchaseOrderNumber),
    );
    const places = await redis.hmget(
      keys.closed(batch),
      ...closed.map(({ letter }) => placeText(letter.location)),
    );
    return closed.filter(({ letter }, i) =>
      letter.purchaseOrderNumber === '' ? places[i] === null : waiting[i]?.includes(`${batch}/`),
    );
  }

  /** Closes one; `last`: the number that its rows have now. Does nothing while something happens to its order: that ends otherwise. */
  async function close(
    batch: string,
    letter: DeadLetter,
    closing: Closing,
    last?: string,
  ): Promise<void> {
    const found = await deadLetters.find(batch, letter);
    const [known] = await ledger.lookup([letter.purchaseOrderNumber]);
    if (known !== undefined && isUnderWay(known)) return;
    const { owner, places, former } = takenRows(batch, letter, last);
    for (const place of places) await claims.reported(owner, { batch, place });
    if (former) await claims.reportedNumber(owner, former, batch);
    if (places.length > 0) await oldNumbers.remember([batch], letter.purchaseOrderNumber, owner);
    const isLater = closing.batch !== undefined && closing.batch !== batch;
    if (isLater && found.owned) await keepAsItWas(found.owned, owner.number, deps);
    await deadLetters.close(batch, letter, found, { at: Date.parse(closing.at), closing });
  }

  /** Discards dead letters of a report again that a person discarded after its batch ended, as the ledger knew before it forgot the batch. */
  async function discardAgain(
    { batch, finishedAt }: Report,
    folder: string,
    known: readonly Closing[],
  ) {
    const closings = closingsOf(known);
    for await (const letter of readDeadLettersIfAny(folder)) {
      const closing = letter.closed ? undefined : closingFor(letter, closings);
      if (closing?.by === 'discarded' && closing.at >= (finishedAt ?? ''))
        await close(batch, letter, closing);
    }
  }

  return { forgotten, close, discardAgain };
}

/**
 * Enters what an export showed in a batch that the ledger lost: an order that the API refused waits in the next version, too, as long as it
 * is the same, and one that has another number now, whoever closed its dead letter, is held. After all reports were read. Only of reports for this address of the API.
 */
export function createShownRecall(deps: ClosingDeps) {
  const knownInvalid = createKnownInvalid(deps);
  const oldNumbers = createOldNumbers(deps);

  return async (
    { batch, source, by, isExport, readFor }: Report,
    folder: string,
  ): Promise<void> => {
    if (!isExport || by !== undefined || readFor !== deps.keys.origin) return;
    for await (const page of pages(readDeadLettersIfAny(folder), PAGE)) {
      const open = page.filter(
        ({ kind, closed }) => !closed && (kind === 'refused' || kind === 'failed'),
      );
      const asShown = ({ number, content }: Former) => ({ number, fingerprint: content });
      await knownInvalid.remember(source, open.map(formerOf).filter(isRecognizable).map(asShown));
      const letters = page.map(({ closed: _closed, ...letter }) => ({ ...letter, batch }));
      const others = await madeOthers(letters, deps);
      for (const [i, { purchaseOrderNumber }] of letters.entries())
        if (others[i]) await oldNumbers.remember([batch], purchaseOrderNumber, others[i]);
    }
  };
}

const PAGE = 200;

/**
 * Writes the list of a report's dead letters again from its results, where somebody removed or emptied it and the ledger, which lost them,
 * does not know them either. Their content and all rows but the first are not known then, and who settled one only where it was discarded.
 */
export async function restoreLetters(
  folder: string,
  { open }: Pick<Report, 'open'>,
): Promise<void> {
  const file = join(folder, 'dead-letters.json');
  if (open === 0 || (await isGone(join(folder, 'results.csv')))) return;
  // An empty file, or a link to nothing, has none either.
  for await (const _ of readDeadLettersIfAny(folder)) return;
  await writeFileWhole(
    file,
    listOf(readResults(join(folder, 'results.csv')), await discardsIn(folder)),
  );
}

type DiscardOf = Awaited<ReturnType<typeof discardsIn>>;

async function* listOf(
  results: AsyncIterable<OrderResult>,
  discardOf: DiscardOf,
): AsyncGenerator<Buffer> {
  const list = createList();
  for await (const {
    line,
    purchaseOrderNumber,
    outcome: kind,
    attempts,
    at,
    code,
    message,
  } of results) {
    if (!needsPerson(kind)) continue;
    const signature = signatureOf({ code, message, known: [purchaseOrderNumber] });
    const times = { attempts, firstAt: at, lastAt: at };
    const closed = discardOf(purchaseOrderNumber, line);
    const end = closed && { closed };
    const what = {
      kind,
      stage: stageOf(kind),
      code,
      message,
      signature,
      ...times,
      location: { line },
      ...end,
    };
    yield Buffer.from(list.entry({ purchaseOrderNumber, ...what } satisfies DeadLetter));
  }
  yield Buffer.from(list.closing());
}

/** Enters orders in doubt that the ledger does not have as their reports show them, so that no file sends one, and people can resolve it. */
export function createDoubtRecall(deps: ClosingDeps & Pick<FixedDeps, 'time'>) {
  const { find } = createDeadLetterClosing(deps);
  return async (batch: string, letters: readonly DeadLetter[]): Promise<void> => {
    for (const letter of letters) {
      if (letter.kind !== 'inDoubt' || letter.closed) continue;
      const { fields, seen } = await find(batch, letter);
      const { no } = (await deps.batches.find(batch)) ?? {};
      if (fields[0] === undefined || seen !== undefined || no === undefined) continue;
      const entry = doubtOf(
        letter,
        { batch, batchNo: no, ordinal: Number(fields[0]) },
        deps.time.now(),
      );
      if (entry) await deps.ledger.take({ ...entry, version: 0 }, { kind: 'move', entry });
    }
  };
}
