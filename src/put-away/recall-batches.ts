import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { toError } from '../core/errors.ts';
import { allNames } from '../ledger/batches/batch-control.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { createRecall, type RecalledBatch, type RecalledLetter } from '../ledger/batches/recall.ts';
import { batchesRecalled, batchTrouble } from '../log/events/batch.ts';
import type { Closed, Closing, DeadLetter } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import { OUTCOMES } from '../order/outcome.ts';
import { contentField } from '../redis/keys.ts';
import { settledFile } from '../report/beside.ts';
import { createLetterSearch, type LetterIn, readDeadLettersIfAny } from '../report/dead-letters.ts';
import { pages } from '../report/lines.ts';
import { asCameBack, type CameBackIn, readCameBack } from '../report/read-corrections.ts';
import { type Report, readFinished, reportNames } from '../report/report.ts';
import { fileOf, type SettlementContext } from './put-batch-away.ts';
import {
  createDoubtRecall,
  createReportedClosing,
  createShownRecall,
  restoreLetters,
} from './recall-dead-letters.ts';

/** Dead letters entered at a time. */
const PAGE = 200;

/** Builds the step that enters one batch, which Redis does not have, and its dead letters, so that people can close them. */
export function createRecallOfBatch(context: SettlementContext) {
  const { config, store, side } = context;
  const [recall, recallDoubts] = [createRecall(store), createDoubtRecall({ ...side, ...store })];
  const letterIn = createLetterSearch(config.reports.path);
  let cameBack: CameBackIn | undefined;
  return async (report: Report, folder: string): Promise<void> => {
    const { batch } = report;
    let [ordinal, open] = [0, 0];
    await restoreLetters(folder, report);
    for await (const page of pages(readDeadLettersIfAny(folder), PAGE)) {
      cameBack ??= await cameBackFor(context);
      const known: RecalledLetter[] = [];
      for (const reported of page) {
        const letter = asCameBack(reported, batch, cameBack);
        const closing = await neededOf(letter, letterIn, reported.closed === undefined);
        known.push({
          letter,
          ordinal,
          ...(closing && { closing }),
          last: await lastNumber(letter, letterIn),
        });
        ordinal += 1;
        if (letter.closed === undefined) open += 1;
        else if (reported.closed === undefined) await store.redis.sadd(store.keys.refresh, batch);
      }
      await recall.keep(batch, known);
    }
    await side.batches.recallCancellation(batch);
    await recall.enter(await recalledBatch(report, open, config));
    for await (const page of pages(readDeadLettersIfAny(folder), PAGE))
      await recallDoubts(
        batch,
        page.map((letter) => (cameBack ? asCameBack(letter, batch, cameBack) : letter)),
      );
  };
}

/**
 * Builds the step that enters what the reports know into a ledger that does not have it, because Redis lost its data or
 * the API has another address. The orders come from the API's list alone. Runs once for each epoch of the ledger.
 */
export function createRecallOfBatches(
  context: SettlementContext,
  before: readonly (() => Promise<void>)[],
) {
  const { config, log, store } = context;
  const { batches } = context.side;
  let recalledIn: string | undefined;

  return async (): Promise<void> => {
    const epoch = batches.epoch();
    // Redis may have lost that alone.
    if (epoch === recalledIn && epoch === (await store.redis.get(store.keys.recalled))) return;
    for (const step of before) await step();
    await store.redis.set(store.keys.recalled, epoch);
    const recallOne = createRecallOfBatch(context);
    const recalled: [Report, string][] = [];
    for await (const { report, folder } of lostReports({ config, batches })) {
      const { batch } = report;
      try {
        // The file of a batch that was not put away is read again.
        if (await isClaimed(report, config)) continue;
        await recallOne(report, folder);
        recalled.push([report, folder]);
      } catch (error) {
        batchTrouble(log, { batch, reason: toError(error).message });
      }
    }
    const recallShown = createShownRecall({ ...context.side, ...store });
    for (const one of recalled) await recallShown(...one);
    if (recalled.length > 0) batchesRecalled(log, { batches: recalled.length });
    await recallClosings(context);
    recalledIn = epoch;
  };
}

/** Closes the dead letters of batches that Redis has, which it has from before they were closed, as their reports say. */
async function recallClosings(context: SettlementContext): Promise<void> {
  const { config, store, side, log } = context;
  const { batches } = side;
  const close = createReportedClosing({ ...side, ...store });
  const recallDoubts = createDoubtRecall({ ...side, ...store });
  const letterIn = createLetterSearch(config.reports.path);
  let cameBack: CameBackIn | undefined;
  for await (const batch of allNames(batches)) {
    const known = await batches.find(batch);
    if (known?.state !== 'done' || known.open === 0) continue;
    const folder = join(config.reports.path, batch);
    if (
      !(await readFinished(config.reports.path, batch, config.environment).catch(() => undefined))
    )
      continue;
    try {
      cameBack ??= await cameBackFor(context);
      const now = cameBack;
      for await (const page of pages(readDeadLettersIfAny(folder), PAGE)) {
        const letters = page.map((letter) => asCameBack(letter, batch, now));
        for (const { letter, closed } of await close.forgotten(batch, letters)) {
          const closing = await closingOf(letter, closed, letterIn);
          // Where it waits is not known any more: it stays open.
          if (closed.waitsIn && closing.successor === undefined && closed.end === undefined)
            continue;
          await close.close(batch, letter, closing, await lastNumber(letter, letterIn));
        }
        await recallDoubts(batch, letters);
      }
    } catch (error) {
      batchTrouble(log, { batch, reason: toError(error).message });
    }
  }
}

function cameBackFor({ config, log }: SettlementContext): Promise<CameBackIn> {
  return readCameBack(config, (batch, error) =>
    batchTrouble(log, { batch, reason: toError(error).message }),
  );
}

type LostDeps = {
  config: Pick<Config, 'reports' | 'environment'>;
  batches: Pick<Batches, 'names' | 'find'>;
};

/**
 * The finished reports of batches that Redis does not have, the oldest first: it lost its data, or the API's address is
 * another one. Reads the reports of these batches only.
 */
export async function* lostReports({
  config,
  batches,
}: LostDeps): AsyncGenerator<{ report: Report; folder: string }> {
  const reports = config.reports.path;
  const lost = new Set(await reportNames(reports));
  if (lost.size === 0) return;
  for await (const name of allNames(batches)) lost.delete(name);
  for (const name of [...lost].sort()) {
    const report = await readFinished(reports, name, config.environment).catch(() => undefined);
    // A batch that began meanwhile is in Redis now.
    if (report && (await batches.find(name)) === undefined)
      yield { report, folder: join(reports, name) };
  }
}

async function isClaimed({ batch, source }: Report, { sources, data }: Config): Promise<boolean> {
  const from = sources.find(({ name }) => name === source);
  const folders = [join(data, 'spool', source, batch), join(data, 'handed-in', source, batch)];
  if (from?.type === 'inbox') folders.push(join(from.path, 'processing', batch));
  const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return names.flat().some((name) => !name.startsWith('.'));
}

/**
 * What a ledger without the batch has to know of a closed dead letter: nothing where its number says it. Rows without a
 * number are not to be closed twice, and rows that need a person in a later batch end there. `isNew`: its report does not say
 * it yet, and is written again from what the ledger knows.
 */
async function neededOf(
  letter: DeadLetter,
  letterIn: LetterIn,
  isNew: boolean,
): Promise<Closing | undefined> {
  const closing = letter.closed && (await closingOf(letter, letter.closed, letterIn));
  return isNew || closing?.successor || letter.purchaseOrderNumber === '' ? closing : undefined;
}

/** How a dead letter was closed, as its report says it. */
async function closingOf(letter: DeadLetter, closed: Closed, letterIn: LetterIn): Promise<Closing> {
  const { purchaseOrderNumber: number, kind, location } = letter;
  const {
    waitsIn,
    end,
    before: _before,
    changes: _,
    number: now = number,
    file: _file,
    ...how
  } = closed;
  const isWaiting =
    waitsIn !== undefined && end === undefined && how.batch !== undefined && now !== '';
  const successor = isWaiting ? (await letterIn(how.batch ?? '', now))?.letter : undefined;
  const which = number === '' ? { number, place: placeText(location) } : { number, kind };
  return { ...which, ...how, ...(successor ? { successor } : end && { end }) };
}

/** The number that the rows of a dead letter have now, where a later fix file than that which settled it gave it to them. */
async function lastNumber(
  { purchaseOrderNumber, closed }: DeadLetter,
  letterIn: LetterIn,
): Promise<string | undefined> {
  let [number, at] = [closed?.number ?? purchaseOrderNumber, closed];
  for (
    let round = 0;
    at?.end?.batch !== undefined && at.batch !== at.end.batch && round < MOST_ROUNDS;
    round += 1
  ) {
    at = (await letterIn(at.batch ?? '', number))?.closed;
    number = at?.number ?? number;
  }
  return closed && number;
}

/** Fix files of fix files that are followed. */
const MOST_ROUNDS = 50;

/** A settled batch as its report shows it, with `open` dead letters. */
async function recalledBatch(
  report: Report,
  open: number,
  { sources }: Pick<Config, 'sources'>,
): Promise<RecalledBatch> {
  const { batch, source, file, origin, sha256, by, counts, error, repeats, cancelledBy } = report;
  const startedAt = Date.parse(report.startedAt);
  const finishedAt = Date.parse(report.finishedAt ?? report.startedAt);
  const from = sources.find(({ name }) => name === source);
  const isExport = from?.type === 'export';
  const hasOrders = report.state !== 'unreadable' || counts.orders > 0;
  const settledPath = from?.type === 'inbox' ? await settledFile(report, from.path) : undefined;
  const path = from?.type === 'inbox' ? join(from.path, 'processing', batch, file) : '';
  const isUnreadable = report.state === 'unreadable' && report.replacedBy === undefined;
  return {
    batch,
    startedAt,
    open,
    isHeard:
      report.state !== 'unreadable' && by === undefined && !report.isFixFile && !report.readAs,
    ...(hasOrders && !isExport && { content: contentField(source, sha256) }),
    ...(isUnreadable && { unreadable: fileOf({ source, name: file }) }),
    fields: {
      batch,
      source,
      name: file,
      ...(origin && { origin }),
      path,
      state: 'done',
      startedAt,
      lastAt: finishedAt,
      kind: !isExport ? 'inbox' : by === undefined ? 'export' : 'handed-in',
      ...(by !== undefined && { by }),
      ...(hasOrders && { total: counts.orders, counted: counts.orders, begunWith: sha256 }),
      ...Object.fromEntries(OUTCOMES.map((outcome) => [`n:${outcome}`, counts[outcome]])),
      ...inspectionOf(report),
      ...(error && { unreadable: JSON.stringify(error) }),
      ...(repeats && {
        repeats: JSON.stringify({
          batch: repeats.batch,
          name: repeats.file,
          at: Date.parse(repeats.at),
        }),
      }),
      ...((counts.cancelled > 0 || cancelledBy) && { cancelled: finishedAt }),
      ...(cancelledBy && {
        cancelledBy: JSON.stringify({ ...cancelledBy, at: Date.parse(cancelledBy.at) }),
      }),
      ...(settledPath !== undefined && { settledPath }),
    },
  };
}

function inspectionOf(report: Report) {
  const { sha256, bytes, format, header, items, mapping, warnings, readAs, isFixFile } = report;
  if (format === null) return {};
  const { records, orders } = report.counts;
  const shape = { format, header, items };
  return {
    inspection: JSON.stringify({
      sha256,
      bytes,
      records,
      orders,
      shape,
      mapping,
      warnings,
      readAs,
      isFixFile,
    }),
    ...(isFixFile && { isFixFile: '1' }),
  };
}
