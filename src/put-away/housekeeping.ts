import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Retention } from '../ledger/retention.ts';
import { expiryFailed, reportsExpired } from '../log/events/batch.ts';
import { ordersForgotten } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import { type Closing, type Closings, closingFor, closingsOf } from '../order/dead-letter.ts';
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
  const names = new Set(await batches.toRefresh());
  for (const name of names) {
    const origins = await refreshOne(name, batches, reports).catch((error: unknown): string[] => {
      failed ??= toError(error);
      return [];
    });
    // Adds to the names of this round: what waited in this batch may be settled now.
    for (const origin of origins) {
      names.delete(origin);
      names.add(origin);
    }
  }
  if (failed) throw failed;
}

/** Refreshes one report. Returns the older batches whose reports depend on it. */
async function refreshOne(name: string, batches: Batches, reports: string): Promise<string[]> {
  const lease = await batches.lease(name);
  if (lease === undefined) return [];
  try {
    // Closings come first: one that is added after this line asks for another refresh.
    const closings = await batches.closings(name);
    const batch = await batches.find(name);
    if (batch && batch.state !== 'done') return [];
    const shown = await withWaiting(closings, batches);
    if (batch) {
      const folder = join(reports, name);
      const refresh = () => refreshReport(folder, batch.open, closingsOf(shown));
      await (batch.settledPath === undefined ? refresh() : refreshBeside(batch.settledPath, folder, refresh));
    }
    const origins = await batches.origins(name);
    await batches.refreshed(name, closings.length, origins);
    // A successor that was closed meanwhile asked for this report, and `refreshed` may have forgotten that.
    if (!isDeepStrictEqual(shown, await withWaiting(closings, batches))) await batches.refreshed(name, -1, []);
    return origins;
  } finally {
    await lease.release();
  }
}

/** The closings with the batches in which rows that came back need a person now, and with the names of their files. */
async function withWaiting(closings: readonly Closing[], batches: Batches): Promise<Closing[]> {
  const known = new Map<string, Closings | undefined>();
  const files = new Map<string, string | undefined>();

  async function closingsIn(batch: string): Promise<Closings | undefined> {
    if (!known.has(batch)) {
      const found = await batches.find(batch);
      files.set(batch, nameOf(found));
      known.set(batch, found && closingsOf(await batches.closings(batch)));
    }
    return known.get(batch);
  }

  /** Follows the rows from batch to batch; undefined when they are settled, or the report expired. */
  async function waitsIn({ batch, successor }: Closing): Promise<string | undefined> {
    if (batch === undefined || successor === undefined) return undefined;
    const later = await closingsIn(batch);
    if (later === undefined) return undefined;
    const next = closingFor(successor, later);
    return next === undefined ? batch : await waitsIn(next);
  }

  async function fileOf(batch: string | undefined): Promise<string | undefined> {
    if (batch === undefined) return undefined;
    if (!files.has(batch)) files.set(batch, nameOf(await batches.find(batch)));
    return files.get(batch);
  }

  const shown: Closing[] = [];
  for (const closing of closings) {
    const batch = await waitsIn(closing);
    const file = await fileOf(batch ?? closing.batch);
    const waits = batch === undefined ? closing : { ...closing, waitsIn: batch };
    shown.push(file === undefined ? waits : { ...waits, file });
  }
  return shown;
}

/** The name that people find: that of the settled file, next to which its page is; before, the name as it was dropped. */
function nameOf(batch: Batch | undefined): string | undefined {
  return batch?.settledPath === undefined ? batch?.name : basename(batch.settledPath);
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
