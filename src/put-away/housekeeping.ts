import { basename } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { expireJournals } from '../journal/folder.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { Retention } from '../ledger/retention.ts';
import { expiryFailed, reportsExpired } from '../log/events/batch.ts';
import { ordersForgotten } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { RedisTime } from '../redis/time.ts';
import { type Expired, expireReports, expireSettled } from '../report/expire.ts';

type Deps = {
  config: Pick<Config, 'reports' | 'sources'>;
  batches: Batches;
  retention: Retention;
  clock: Clock;
  time: Pick<RedisTime, 'now'>;
  log: Log;
};

/**
 * Removes reports and settled files older than `reports.keep`, except reports with open dead letters, and forgets
 * orders that are past the ledger's retention.
 */
export async function keepHouse({
  config,
  batches,
  retention,
  clock,
  time,
  log,
}: Deps): Promise<void> {
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
  await expireJournals(path, keep, now).catch((error: unknown) =>
    expiryFailed(log, { path, error: toError(error).message }),
  );
  logRounds(rounds, Math.round(clock.monotonic() - began), log);
  // By the clock of Redis, as sources are noted: one machine whose clock is ahead must not forget orders.
  const forgotten = await retention.forget(time.now());
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
