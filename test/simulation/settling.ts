import { type Batch, type Batches, isFinished } from '../../src/ledger/batches/batches.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { reportOrders } from '../../src/put-away/report-orders.ts';
import type { ReportedOrder } from '../../src/report/write-report.ts';
import type { File, Files } from './files.ts';

type Deps = {
  batches: Batches;
  ledger: Ledger;
  files: Files;
  /** Takes as long as a disk. */
  disk: () => Promise<void>;
};

/**
 * Settles finished batches step by step as `src/put-away/settle-batch.ts` does: report, file put away, batch done. The joins are the
 * program's; only the disk is simulated.
 */
export function createSettling(deps: Deps) {
  const { batches, files, disk } = deps;

  async function tick(): Promise<void> {
    for (const name of await batches.finished()) await settleAlone(name);
  }

  async function settleAlone(name: string): Promise<void> {
    const lease = await batches.lease(name);
    if (lease === undefined) return;
    try {
      const [batch, file] = [await batches.find(name), files.of(name)];
      if (batch && file && isFinished(batch)) await settle(batch, file);
    } finally {
      await lease.release();
    }
  }

  async function settle(batch: Batch, file: File): Promise<void> {
    if (!file.isAway) {
      const rows = await rowsOf(batch, file);
      await disk();
      files.reported(file, { rows, counts: batch.counts, total: batch.total ?? 0 });
    }
    await disk();
    files.putAway(file);
    await batches.done(batch.batch);
  }

  async function rowsOf(batch: Batch, file: File): Promise<ReportedOrder[]> {
    const join = { ...deps, knownContent: async () => new Map() };
    const rows: ReportedOrder[] = [];
    for await (const row of reportOrders(each(file.orders), batch, join)) rows.push(row);
    return rows;
  }

  return { tick };
}

async function* each(orders: readonly CheckedOrder[]): AsyncGenerator<CheckedOrder> {
  yield* orders;
}
