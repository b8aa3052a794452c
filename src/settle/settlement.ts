import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mapping, Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, type PoSyncError, toError } from '../core/errors.ts';
import { hashFile } from '../core/hash-file.ts';
import { createSemaphore } from '../core/semaphore.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { batchFinished, batchTrouble } from '../events/batch.ts';
import { dropCopy, settleFile } from '../intake/settle-file.ts';
import type { Batch, BatchRight } from '../ledger/batches.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { countNeedingPerson } from '../order/outcome.ts';
import { inspectFile } from '../parse/inspect.ts';
import type { Inspection } from '../parse/inspection.ts';
import { layBeside } from '../report/beside.ts';
import type { Report } from '../report/report.ts';
import { type ReportedOrder, writeProgress, writeReport } from '../report/write-report.ts';
import { readOrders } from '../validate/read-orders.ts';
import { batchReports } from './batch-reports.ts';
import { type ClosingMendedDeps, closingMended } from './close-fixed.ts';
import { refreshReports } from './refresh-reports.ts';
import { reportOrders } from './report-orders.ts';

export type SettlementDeps = ClosingMendedDeps & {
  breaker: CircuitBreaker;
  sources: readonly Source[];
  mappingOf(source: string): Mapping | undefined;
  environment: string;
  clock: Clock;
  log: Log;
  /** Proofs of files that this daemon read; another daemon's file is read once more. */
  inspections: Map<string, Inspection>;
  /** Told of each batch that is settled here. */
  onSettled(batch: Batch, needPerson: number): void;
};

const LOOK_AGAIN = 50;
/** Batches settled at the same time. */
const AT_ONCE = 4;
/** How old a report of progress may be when it is written; shorter than a lease. */
const FRESH = 3_000;
/** Between two rounds of refreshing lies so many times what the last one took. */
const REST = 5;
const LONGEST_REST = 60_000;

/** The spine of settlement: from a finished batch to its report, the file put away. Each step may be repeated. */
export function openSettlement(deps: SettlementDeps) {
  const { batches, log } = deps;
  let restUntil = 0;
  const reportOf = batchReports(deps);
  const slots = createSemaphore(AT_ONCE);
  const settling = new Map<string, Promise<void>>();

  /** Begins to settle every batch whose last order is counted; a large one keeps no other waiting. */
  async function tick(): Promise<void> {
    for (const name of await batches.finished()) if (!settling.has(name)) begin(name);
  }

  function begin(name: string): void {
    const settled = slots
      .hold(() => settleOnce(name))
      .catch((error: unknown) => batchTrouble(log, { batch: name, reason: toError(error).message }))
      .finally(() => settling.delete(name));
    settling.set(name, settled);
  }

  /** Where somebody else is at it, that is enough: the next round looks again. */
  async function settleOnce(name: string): Promise<void> {
    await holding(name, 'lease', () => holding(name, 'reportLease', () => settleNow(name)));
  }

  async function settleNow(name: string): Promise<void> {
    const batch = await batches.find(name);
    if (batch && batch.state !== 'done') await settle(batch);
  }

  /** Runs the task with a right to the batch; undefined while somebody else has it. */
  async function holding<T>(name: string, right: BatchRight, task: () => Promise<T>): Promise<T | undefined> {
    const lease = await batches.lease(name, right);
    if (lease === undefined) return undefined;
    try {
      return await task();
    } finally {
      await lease.release();
    }
  }

  /** Nobody else writes the batch's `report.json` meanwhile, so that the final one stays the last. */
  async function alone<T>(name: string, task: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await holding(name, 'reportLease', async () => ({ result: await task() }));
      if (done) return done.result;
      await deps.clock.sleep(LOOK_AGAIN);
    }
  }

  /** Writes reports anew whose dead letters were closed by a later batch, or by a person; large ones not all the time. */
  async function refresh(): Promise<void> {
    const began = deps.clock.monotonic();
    if (began < restUntil) return;
    await refreshReports(deps);
    const ended = deps.clock.monotonic();
    restUntil = ended + Math.min((ended - began) * REST, LONGEST_REST);
  }

  async function settle(batch: Batch): Promise<void> {
    const folder = folderOf(batch.batch);
    const report = await reportOf(batch, 'finished');
    if (await exists(batch.path)) {
      const orders = closingMended(deps, await ordersOf(batch), batch.batch);
      await writeReport({ folder, report, shape: batch.inspection?.shape, orders });
    }
    // The file is gone only when the whole report stood already; since then its progress may have been told once more.
    else await writeProgress(folder, report);
    await putAway(batch, 'done', folder, needPersonIn(batch) > 0);
    await close(batch, needPersonIn(batch));
  }

  /** A file that cannot be read as orders: it is told, and put with the failed ones. Gives its SHA-256. */
  function settleUnreadable(batch: Batch, error: PoSyncError): Promise<string> {
    return alone(batch.batch, () => settleFailed(batch, error));
  }

  async function settleFailed(batch: Batch, error: PoSyncError): Promise<string> {
    const folder = folderOf(batch.batch);
    const identity = await hashFile(batch.path);
    const report = { ...(await reportOf(batch, 'unreadable')), error: errorOf(error), ...identity };
    await writeReport({ folder, report, shape: undefined, orders: nothing() });
    await putAway(batch, 'failed', folder, false);
    await close(batch, 1);
    return identity.sha256;
  }

  async function putAway(batch: Batch, where: 'done' | 'failed', folder: string, needsFix: boolean): Promise<void> {
    const source = deps.sources.find(({ name }) => name === batch.source);
    if (source?.type !== 'inbox') return dropCopy(claimOf(batch));
    const settled = await settleFile(claimOf(batch), source, where, new Date(deps.clock.now())).catch(unlessMissing);
    // Somebody took the settled file away in the meantime: it is theirs.
    if (settled === undefined) return;
    await batches.putAway(batch.batch, settled);
    await layBeside(settled, folder, { needsFix });
  }

  async function close(batch: Batch, needPerson: number): Promise<void> {
    await batches.done(batch.batch);
    deps.inspections.delete(batch.batch);
    const { batch: name, source, name: file, total: orders = 0, counts, startedAt, lastAt } = batch;
    const facts = { orders, accepted: counts.accepted, needPerson, durationMs: lastAt - startedAt };
    batchFinished(log, { batch: name, source, file, ...facts, report: folderOf(name) });
    deps.onSettled(batch, needPerson);
  }

  async function ordersOf(batch: Batch): Promise<AsyncIterable<ReportedOrder>> {
    const mapping = deps.mappingOf(batch.source);
    const inspection = deps.inspections.get(batch.batch) ?? (await inspectFile(batch.path, mapping, {}));
    return reportOrders(readOrders(batch.path, inspection, mapping, {}), batch, deps);
  }

  /** Keeps `report.json` of a batch under way current. Where it cannot be written, its orders go on. */
  async function progress(name: string): Promise<void> {
    await tellProgress(name).catch((error: unknown) =>
      batchTrouble(log, { batch: name, reason: toError(error).message }),
    );
  }

  /** Where somebody else is at it, that is enough. */
  async function tellProgress(name: string): Promise<void> {
    const began = deps.clock.monotonic();
    await holding(name, 'reportLease', async () => {
      const batch = await batches.find(name);
      if (batch === undefined || batch.state === 'done') return;
      const report = await reportOf(batch, batch.held ? 'held' : 'running');
      // Frozen meanwhile, we may have lost the lease, and the batch may be settled.
      if (deps.clock.monotonic() - began < FRESH) await writeProgress(folderOf(name), report);
    });
  }

  function folderOf(batch: string): string {
    return join(deps.reports, batch);
  }

  return {
    tick,
    refresh,
    settleUnreadable,
    progress,
    /** Waits for what is being settled. */
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(settling.values());
    },
  };
}

/** Orders of the batch that a person must see to; an unreadable file counts as one. */
function needPersonIn({ counts }: Batch): number {
  return countNeedingPerson(counts);
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'file-missing') throw error;
}

function claimOf({ batch, source, kind, name, path }: Batch): ClaimedFile {
  return { batch, source, kind, name, path };
}

function errorOf({ code, message, facts }: PoSyncError): NonNullable<Report['error']> {
  const { line, column } = facts;
  return {
    code,
    message,
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof column === 'number' ? { column } : {}),
  };
}

async function* nothing(): AsyncGenerator<never> {}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
