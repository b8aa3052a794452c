import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import { type Batch, type Batches, totalOrders } from '../../ledger/batches/batches.ts';
import { countNeedingPerson, countSettled } from '../../order/outcome.ts';
import { type Report, readReport } from '../../report/report.ts';
import type { OperatorContext } from '../operator-context.ts';

const PAGE = 1000;

/**
 * Finds a batch by its name or the end of its name; the last eight characters are enough.
 * Throws PoSyncError `batch-unknown`, `batch-ambiguous`.
 */
export async function findBatch(text: string, batches: Pick<Batches, 'find' | 'names'>): Promise<Batch> {
  const exact = await batches.find(text);
  if (exact) return exact;
  const found: string[] = [];
  for await (const name of allNames(batches)) if (text !== '' && name.endsWith(text)) found.push(name);
  if (found.length > 1) throw ambiguous(text, found);
  const batch = found[0] === undefined ? undefined : await batches.find(found[0]);
  if (batch) return batch;
  throw unknownBatch(text);
}

/** The names of all batches, newest first. */
export async function* allNames(batches: Pick<Batches, 'names'>): AsyncGenerator<string> {
  for (let from = 0; ; from += PAGE) {
    const page = await batches.names(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

/** No batch has this name or a name that ends with this text. */
export function unknownBatch(text: string): PoSyncError {
  return new PoSyncError('batch-unknown', `Batch ${text} not found.`, {
    remedy: 'Run po-sync batches list to see all batches. The last eight characters of a name are enough.',
    facts: { batch: text },
  });
}

function ambiguous(text: string, found: readonly string[]): PoSyncError {
  const shown = found.slice(0, 5).join(', ');
  return new PoSyncError('batch-ambiguous', `${found.length} batches end in ${text}: ${shown}.`, {
    remedy: 'Enter more of the name.',
    facts: { batch: text },
  });
}

export type BatchFilter = {
  /** Taken at or after this time, milliseconds since 1970. */
  since?: number;
  /** Only batches that need a person. */
  open: boolean;
  most: number;
};

/** The state of a batch, in the words of a report. */
export type BatchStanding = 'reading' | 'sending' | 'held' | 'finished' | 'unreadable';

/** A batch with its report folder; `error`: why its file is unreadable. */
export type BatchView = { batch: Batch; standing: BatchStanding; report: string; error?: Report['error'] };

/** What decides the standing of a batch. */
export type StandingFacts = {
  state: Batch['state'];
  held?: unknown;
  total?: number | undefined;
  unreadable?: unknown;
};

type ReportContext = Pick<OperatorContext, 'batches' | 'config'>;

/** The newest batches that match the filter. */
export async function listBatches(filter: BatchFilter, context: ReportContext): Promise<BatchView[]> {
  const found: BatchView[] = [];
  const readLater = new Set<string>();
  for await (const name of allNames(context.batches)) {
    const batch = await context.batches.find(name);
    if (batch === undefined) continue;
    if (batch.startedAt < (filter.since ?? 0)) break;
    if (!filter.open || isOpen(batch, readLater)) found.push(await viewOf(batch, context));
    if (found.length >= filter.most) break;
  }
  return found;
}

/** The unreadable files of batches, the newest first, that have not been replaced yet. */
export async function unreadableFiles(newest: readonly Batch[], context: ReportContext): Promise<BatchView[]> {
  const readLater = new Set<string>();
  const open = newest.filter((batch) => isOpen(batch, readLater) && standingOf(batch) === 'unreadable');
  return Promise.all(open.map((batch) => viewOf(batch, context)));
}

/**
 * Whether a batch needs a person: dead letters wait, it is held, or its file is unreadable and no later file of the
 * same name could be read. Call it newest batch first; `readLater` collects the files that could be read.
 */
function isOpen(batch: Batch, readLater: Set<string>): boolean {
  const file = JSON.stringify([batch.source, batch.name]);
  if (standingOf(batch) === 'unreadable') return !readLater.has(file);
  readLater.add(file);
  return batch.open > 0 || batch.held !== undefined;
}

/** Adds what the report of an unreadable file says about it. */
export async function viewOf(batch: Batch, { config }: Pick<OperatorContext, 'config'>): Promise<BatchView> {
  const report = join(config.reports.path, batch.batch);
  const standing = standingOf(batch);
  const error = standing === 'unreadable' ? (await readReport(report))?.error : undefined;
  return { batch, standing, report, ...(error ? { error } : {}) };
}

/** What a report would call the state of a batch. */
export function standingOf({ state, held, total, unreadable }: StandingFacts): BatchStanding {
  // An unreadable file has no total, unless some of its orders were admitted before.
  if (state === 'done') return total === undefined || unreadable ? 'unreadable' : 'finished';
  if (held) return 'held';
  return state === 'reading' ? 'reading' : 'sending';
}

/** Orders that have an outcome. */
export function settledIn({ counts }: Batch): number {
  return countSettled(counts);
}

/** Orders that needed a person when they got their outcome. */
export function neededPerson({ counts }: Batch): number {
  return countNeedingPerson(counts);
}

/** A batch in JSON output, with the names of `report.json`. */
export function batchJson({ batch, standing, report, error }: BatchView) {
  const { inspection, held } = batch;
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
    counts: { records: inspection?.records ?? 0, orders: totalOrders(batch) ?? null, ...batch.counts },
    open: batch.open,
    error,
    held: held && { reason: held.reason, since: iso(held.since) },
    cancelled: batch.cancelled,
    warnings: inspection?.warnings ?? [],
    settledPath: batch.settledPath,
    report,
  };
}
