import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, type PoSyncError } from '../core/errors.ts';
import { hashFile } from '../core/hash-file.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { batchFinished } from '../events/batch.ts';
import { dropCopy, settleFile } from '../intake/put-away.ts';
import type { Batch, BatchError, Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { countNeedingPerson } from '../order/outcome.ts';
import { inspectFile } from '../parse/inspect.ts';
import type { Inspection } from '../parse/inspection.ts';
import type { Store } from '../redis/store.ts';
import { fixFilesIn, layBeside } from '../report/beside.ts';
import { makeFolder } from '../report/disk.ts';
import type { Report } from '../report/report.ts';
import { type ReportedOrder, writeProgress, writeReport } from '../report/write-report.ts';
import { howToRead } from '../validate/how-to-read.ts';
import { readOrders } from '../validate/read-orders.ts';
import { countAdmitted, openOriginal } from './changed-file.ts';
import { closeFixed } from './close-fixed.ts';
import { createReportOfBatch } from './report-of-batch.ts';
import { reportOrders } from './report-orders.ts';

/** What settlement is built from. */
export type SettlementContext = {
  config: Config;
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  side: { batches: Batches; ledger: Ledger; breaker: CircuitBreaker };
  clock: Clock;
  log: Log;
  /** Inspections of files that this daemon read, by batch. Files of another daemon are inspected again. */
  inspections: Map<string, Inspection>;
  /** Called for each batch settled here, with the number of its orders that need a person. */
  onSettled(batch: Batch, needPerson: number): void;
};

/** Builds the steps from a finished or unreadable batch to its report and its file put away. Each can be repeated. */
export function createBatchSettlement({ config, store, side, clock, log, inspections, onSettled }: SettlementContext) {
  const { batches, ledger, breaker } = side;
  const reports = config.reports.path;
  const reportOf = createReportOfBatch({ breaker, config, clock });

  async function settleFinished(batch: Batch): Promise<void> {
    if (batch.unreadable !== undefined) return settleChanged(batch, batch.unreadable);
    const folder = join(reports, batch.batch);
    const report = await reportOf(batch, 'finished');
    if (await exists(batch.path)) {
      const orders = closeFixed({ batches, ledger, ...store, reports }, await ordersOf(batch), batch.batch);
      await writeReport({ folder, report, shape: batch.inspection?.shape, orders });
    }
    // The file is put away only after its complete report, but its progress may have been written once more since.
    else await writeProgress(folder, report);
    const needPerson = countNeedingPerson(batch.counts);
    await putAway(batch, 'done', needPerson > 0);
    await finish(batch, needPerson);
  }

  /** Reports a file that cannot be read as orders and moves it to `failed/`. Returns its SHA-256. */
  async function settleUnreadable(batch: Batch, error: PoSyncError): Promise<string> {
    const identity = await hashFile(batch.path);
    if (batch.begunWith !== undefined) {
      // Some orders were admitted: settled when each has its outcome.
      await batches.becameUnreadable(batch.batch, errorOf(error));
      await batches.admitted(batch.batch, await countAdmitted(batch.batch, { batches, ledger, ...store }));
      return identity.sha256;
    }
    const report = { ...(await reportOf(batch, 'unreadable')), error: errorOf(error), ...identity };
    await writeReport({ folder: join(reports, batch.batch), report, shape: undefined, orders: nothing() });
    await putAway(batch, 'failed', false);
    await finish(batch, 1);
    return identity.sha256;
  }

  /** Reports the admitted orders of a file that became unreadable meanwhile, and moves it to `failed/`. */
  async function settleChanged(batch: Batch, error: BatchError): Promise<void> {
    const folder = join(reports, batch.batch);
    const report = { ...(await reportOf(batch, 'unreadable')), error };
    if (await exists(batch.path)) {
      await makeFolder(folder);
      await using original = await openOriginal(batch, folder, { batches, config });
      const admitted = reportOrders(original?.orders ?? nothing(), batch, { ...side, config });
      const orders = closeFixed({ batches, ledger, ...store, reports }, admitted, batch.batch);
      const identity = await hashFile(batch.path);
      await writeReport({ folder, report: { ...report, ...identity }, shape: original?.shape, orders });
    } else await writeProgress(folder, report);
    await putAway(batch, 'failed', (await fixFilesIn(folder)).length > 0);
    await finish(batch, countNeedingPerson(batch.counts) + 1);
  }

  async function putAway(batch: Batch, where: 'done' | 'failed', needsFix: boolean): Promise<void> {
    const source = config.sources.find(({ name }) => name === batch.source);
    if (source?.type !== 'inbox') return dropCopy(claimOf(batch));
    const settled = await settleFile(claimOf(batch), source, where, new Date(clock.now())).catch(unlessMissing);
    // Undefined: somebody removed the settled file, so nothing belongs next to it.
    if (settled === undefined) return;
    await batches.putAway(batch.batch, settled);
    await layBeside(settled, join(reports, batch.batch), { needsFix });
  }

  async function finish(batch: Batch, needPerson: number): Promise<void> {
    await batches.done(batch.batch);
    inspections.delete(batch.batch);
    const { batch: name, source, name: file, total: orders = 0, counts, startedAt, lastAt } = batch;
    const facts = { orders, accepted: counts.accepted, needPerson, durationMs: lastAt - startedAt };
    batchFinished(log, { batch: name, source, file, ...facts, report: join(reports, name) });
    onSettled(batch, needPerson);
  }

  async function inspectAgain({ path, source }: Batch): Promise<Inspection> {
    const { mapping, originals } = await howToRead(path, source, { config, batches });
    return await inspectFile(path, mapping, { originals });
  }

  async function ordersOf(batch: Batch): Promise<AsyncIterable<ReportedOrder>> {
    const inspection = inspections.get(batch.batch) ?? (await inspectAgain(batch));
    return reportOrders(readOrders(batch.path, inspection, {}), batch, { ...side, config });
  }

  return { reportOf, settleFinished, settleUnreadable };
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'file-missing') throw error;
}

function claimOf({ batch, source, kind, name, path }: Batch): ClaimedFile {
  return { batch, source, kind, name, path };
}

function errorOf({ code, message, remedy, facts }: PoSyncError): NonNullable<Report['error']> {
  const { line, column } = facts;
  return {
    code,
    message,
    ...(remedy === undefined ? {} : { remedy }),
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
