import { join } from 'node:path';
import { toError } from '../core/errors.ts';
import type { Batches } from '../ledger/batches.ts';
import { closingsOf } from '../order/closing.ts';
import { refreshBeside } from '../report/beside.ts';
import { refreshReport } from '../report/refresh-report.ts';

/**
 * Writes the reports anew whose dead letters were closed since they were written, with their copies beside the files. Repeatable; one process at a time
 * for a batch. Those of a batch that is not settled yet wait for its report. Throws `report-not-written`.
 */
export async function refreshReports({ batches, reports }: { batches: Batches; reports: string }): Promise<void> {
  let failed: Error | undefined;
  // One that cannot be written keeps no other waiting.
  for (const name of await batches.toRefresh()) {
    await refreshOne(name, batches, reports).catch((error: unknown) => {
      failed ??= toError(error);
    });
  }
  if (failed) throw failed;
}

async function refreshOne(name: string, batches: Batches, reports: string): Promise<void> {
  const lease = await batches.lease(name);
  if (lease === undefined) return;
  try {
    // First the closings: one that comes after them is missed here, and asks again.
    const closings = await batches.closings(name);
    const batch = await batches.find(name);
    if (batch && batch.state !== 'done') return;
    if (batch) {
      const folder = join(reports, name);
      const refresh = () => refreshReport(folder, batch.open, closingsOf(closings));
      await (batch.settledPath === undefined ? refresh() : refreshBeside(batch.settledPath, folder, refresh));
    }
    await batches.refreshed(name, closings.length);
  } finally {
    await lease.release();
  }
}
