import { join } from 'node:path';
import { toError } from '../core/errors.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { closingsOf } from '../order/dead-letter.ts';
import { refreshBeside } from '../report/beside.ts';
import { refreshReport } from '../report/refresh-report.ts';

/**
 * Rewrites the reports whose dead letters were closed since, with the copies next to their files. Batches that are not
 * settled yet keep their report. Can be repeated; one process at a time works on a batch. Throws `report-not-written`.
 */
export async function refreshReports({ batches, reports }: { batches: Batches; reports: string }): Promise<void> {
  let failed: Error | undefined;
  // A report that cannot be written must not delay the others.
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
    // Closings come first: one that is added after this line asks for another refresh.
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
