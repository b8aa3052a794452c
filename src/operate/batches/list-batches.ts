import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { allNames, batchesOfFile } from '../../ledger/batches/batch-control.ts';
import { type Batch, type Batches, isFinished, totalOrders } from '../../ledger/batches/batches.ts';
import {
  cancelledWord,
  countNeedingPerson,
  countSettled,
  type OutcomeCounts,
} from '../../order/outcome.ts';
import { forgottenEnd } from '../../put-away/missing-file.ts';
import { isCancelled, type Report, readReport } from '../../report/report.ts';
import { fileWaitJson } from '../../wording/file-wait.ts';
import type { OperatorContext } from '../operator-context.ts';

/**
 * Finds a batch by its name, the end of its name, of which eight characters are enough, or the name of its file. `isUnfinished`:
 * of several with this file, the one that is not finished. Throws PoSyncError `batch-unknown`, `batch-ambiguous`.
 */
export async function findBatch(
  text: string,
  batches: Pick<Batches, 'find' | 'names'>,
  { isUnfinished = false } = {},
): Promise<Batch> {
  const exact = await batches.find(text);
  if (exact) return exact;
  const names: string[] = [];
  for await (const name of allNames(batches))
    if (text !== '' && name.endsWith(text)) names.push(name);
  const named = (await Promise.all(names.map(batches.find))).filter((one) => one !== undefined);
  const ofFile = named.length > 0 ? [] : await batchesOfFile(text, batches);
  const unfinished = isUnfinished ? ofFile.filter(({ state }) => state !== 'done') : [];
  const found = [named, unfinished, ofFile].find((some) => some.length > 0) ?? [];
  const [one, ...others] = found;
  if (one === undefined) throw unknownBatch(text);
  if (others.length === 0) return one;
  const first = found.slice(0, 5).map(({ batch }) => batch);
  throw new PoSyncError(
    'batch-ambiguous',
    `${text} fits ${found.length} batches, such as ${first.join(', ')}.`,
    {
      remedy: 'Enter the name of the batch; its last eight characters are enough.',
      facts: { batch: text },
    },
  );
}

/** No batch has this name, a name that ends with this text, or a file of this name. */
export function unknownBatch(text: string): PoSyncError {
  return new PoSyncError('batch-unknown', `Batch ${text} not found.`, {
    remedy:
      'Run po-sync batches list to see all batches. The last eight characters of a name are enough.',
    facts: { batch: text },
  });
}

export type BatchFilter = {
  /** Only batches that need a person. */
  open: boolean;
  most: number;
};

/** The state of a batch, in the words of a report. */
export type BatchStanding = 'reading' | 'sending' | 'waiting' | 'finished' | 'unreadable';

/**
 * A batch with its report folder; `error`: why its file is unreadable. `over`: why nobody has to do anything about it any
 * more. `endedWith`: as its report counts it, where Redis lost that it ended: `batch` has what it says, too.
 */
export type BatchView = {
  batch: Batch;
  standing: BatchStanding;
  report: string;
  error?: Report['error'];
  over?: 'replaced' | 'cancelled';
  endedWith?: OutcomeCounts;
};

/** What decides the standing of a batch. */
export type StandingFacts = {
  state: Batch['state'];
  held?: unknown;
  total?: number | undefined;
  unreadable?: unknown;
};

type ReportContext = Pick<OperatorContext, 'batches' | 'config'>;

/** The newest batches that match the filter. */
export async function listBatches(
  filter: BatchFilter,
  context: ReportContext,
  lists?: { batchPage(filter: { open?: 'true' }, limit: number): { items: string[] } },
): Promise<BatchView[]> {
  if (lists) {
    const { items } = lists.batchPage(filter.open ? { open: 'true' } : {}, filter.most);
    return viewsOf(items, context);
  }
  const found: BatchView[] = [];
  for await (const name of allNames(context.batches)) {
    const batch = await context.batches.find(name);
    if (batch === undefined) continue;
    if (!filter.open || isOpen(batch)) found.push(await viewOf(batch, context));
    if (found.length >= filter.most) break;
  }
  return found;
}

/** Batches as Redis has them now; without those that it forgot. */
export async function viewsOf(
  names: readonly string[],
  context: ReportContext,
): Promise<BatchView[]> {
  const found = await Promise.all(names.map(context.batches.find));
  return Promise.all(found.flatMap((one) => (one ? [viewOf(one, context)] : [])));
}

/** As `unreadableBatches`, with what their reports say. */
export async function unreadableFiles(
  newest: readonly Batch[],
  context: ReportContext,
): Promise<BatchView[]> {
  return Promise.all(unreadableBatches(newest).map((batch) => viewOf(batch, context)));
}

/** Those of batches whose file is unreadable and was neither replaced nor cancelled. */
export function unreadableBatches(newest: readonly Batch[]): Batch[] {
  return newest.filter(
    (batch) => standingOf(batch) === 'unreadable' && overOf(batch) === undefined,
  );
}

/** Whether a batch needs a person: dead letters wait, it is held, it cannot be settled, or its file is unreadable. */
export function isOpen(batch: Batch): boolean {
  return (
    unreadableBatches([batch]).length > 0 ||
    batch.open > 0 ||
    batch.held !== undefined ||
    batch.unsettled !== undefined
  );
}

function overOf({ replacedBy, cancelled }: Batch): BatchView['over'] {
  if (replacedBy !== undefined) return 'replaced';
  return cancelled ? 'cancelled' : undefined;
}

/** What to do about an unreadable file whose report does not say it. */
export const CORRECT_FILE = 'Correct the file and drop the complete file again.';

/** Adds what the report of an unreadable file says about it. */
export async function viewOf(
  batch: Batch,
  context: Pick<OperatorContext, 'config' | 'batches'>,
): Promise<BatchView> {
  const report = join(context.config.reports.path, batch.batch);
  const standing = standingOf(batch);
  if (standing !== 'unreadable') {
    const ended = await forgottenEnd(batch, context.config);
    if (ended === undefined) return { batch, standing, report };
    const { counts } = ended;
    const cancelled = isCancelled(ended) || batch.cancelledBy !== undefined;
    return { batch: { ...batch, counts, cancelled }, standing, report, endedWith: counts };
  }
  const written = await readReport(report);
  const error = written?.error ?? batch.unreadable;
  const over = overOf(batch);
  return {
    batch,
    standing,
    report,
    ...(error && { error }),
    ...(over && { over }),
  };
}

/** What a report would call the state of a batch. */
export function standingOf({ state, held, total, unreadable }: StandingFacts): BatchStanding {
  // An unreadable file has no total, unless some of its orders were admitted before.
  if (state === 'done') return total === undefined || unreadable ? 'unreadable' : 'finished';
  if (held) return 'waiting';
  return state === 'reading' ? 'reading' : 'sending';
}

/** The standing for people: a batch whose orders all have their outcome waits only for its report. */
export function standingText({ batch, standing, endedWith }: BatchView): string {
  if (batch.unsettled !== undefined)
    return batch.state === 'reading' ? 'cannot be read' : 'no report yet';
  if (standing === 'finished' && batch.cancelled) return cancelledWord(batch.counts);
  if (endedWith) return `${batch.cancelled ? cancelledWord(endedWith) : 'finished'}, counted again`;
  if (batch.cancelled && (standing === 'reading' || standing === 'sending'))
    return 'being cancelled';
  return standing === 'sending' && isFinished(batch) ? 'writing report' : standing;
}

/** Why a batch that ended is counted again. */
export const ENDED_BEFORE =
  'It ended before Redis lost data. po-sync counts it again within about a minute.';

/** What it means that a batch is unsettled, and what to do. */
export const unsettledText = (batch: Batch): string =>
  `${batch.state === 'reading' ? 'Its other orders are not read and not sent' : isFinished(batch) ? 'All orders of the file have their outcome' : 'Orders that were read are sent'}. Remove the cause: po-sync tries again every few seconds.`;

/** Orders that have an outcome. */
export const settledIn = ({ counts }: Batch): number => countSettled(counts);

/** Orders that needed a person when they got their outcome. */
export const neededPerson = ({ counts }: Batch): number => countNeedingPerson(counts);

/** Those of them that were settled since, in this file or in one that corrects it. */
export const settledSince = (batch: Batch): number => Math.max(0, neededPerson(batch) - batch.open);

/** A batch in JSON output, with the names of `report.json`. */
export function batchJson({ batch, standing, report, error }: BatchView) {
  const { inspection, held, unsettled } = batch;
  return {
    batch: batch.batch,
    source: batch.source,
    file: batch.name,
    by: batch.by,
    state: standing,
    startedAt: iso(batch.startedAt),
    lastAt: iso(batch.lastAt),
    sha256: inspection?.sha256,
    bytes: inspection?.bytes,
    format: inspection?.shape.format,
    counts: {
      records: inspection?.records ?? 0,
      orders: totalOrders(batch) ?? null,
      ...batch.counts,
    },
    open: batch.open,
    settled: settledSince(batch),
    error,
    waits: held && fileWaitJson(held),
    unsettled: unsettled && { ...unsettled, since: iso(unsettled.since) },
    cancelled: batch.cancelled,
    cancelledBy: batch.cancelledBy && { ...batch.cancelledBy, at: iso(batch.cancelledBy.at) },
    warnings: inspection?.warnings ?? [],
    settledPath: batch.settledPath,
    report,
  };
}
