import { basename, join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { Retention } from '../ledger/retention.ts';
import { expiryFailed, reportsExpired } from '../log/events/batch.ts';
import { ordersForgotten } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import { closingsOf } from '../order/dead-letter.ts';
import { refreshBeside } from '../report/beside.ts';
import { type Expired, expireReports, expireSettled } from '../report/expire.ts';
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

type Deps = { config: Config; batches: Batches; retention: Retention; clock: Clock; log: Log };

/**
 * Removes reports and settled files older than `reports.keep`, except reports with open dead letters, and forgets
 * orders that are past the ledger's retention.
 */
export async function keepHouse({ config, batches, retention, clock, log }: Deps): Promise<void> {
  const began = clock.monotonic();
  const now = clock.now();
  const { path, keep } = config.reports;
  const reports = await expireReports({
    path,
    keep,
    now,
    keepOpen: async (name) => isNeeded(await batches.find(name)),
  });
  for (const removed of reports.removed) await batches.forget(basename(removed));
  const rounds = [reports];
  for (const source of config.sources) {
    if (source.type === 'inbox') rounds.push(await expireSettled(source.path, keep, now));
  }
  logRounds(rounds, Math.round(clock.monotonic() - began), log);
  const forgotten = await retention.forget(now);
  if (forgotten > 0) ordersForgotten(log, { orders: forgotten });
}

function isNeeded(batch: Awaited<ReturnType<Batches['find']>>): boolean {
  return batch !== undefined && (batch.state !== 'done' || batch.open > 0);
}

function logRounds(rounds: readonly Expired[], durationMs: number, log: Log): void {
  const removed = rounds.reduce((sum, round) => sum + round.removed.length, 0);
  if (removed > 0) reportsExpired(log, { removed, durationMs });
  for (const { path, error } of rounds.flatMap(({ failed }) => failed)) {
    expiryFailed(log, { path, error: toError(error).message });
  }
}
