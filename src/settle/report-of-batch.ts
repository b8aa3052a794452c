import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { iso } from '../core/format.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch } from '../ledger/batches.ts';
import type { Report } from '../report/report.ts';

type Deps = { breaker: CircuitBreaker; config: Config; clock: Clock };

/** Builds the step that turns a batch into its `report.json`. */
export function createReportOfBatch({ breaker, config, clock }: Deps) {
  return async (batch: Batch, state: Report['state']): Promise<Report> => {
    const { inspection, counts, startedAt, lastAt, held } = batch;
    const inbox = inboxFor(batch, config);
    const ended = state === 'finished' || state === 'unreadable';
    const pauses = await breaker.during(startedAt, ended ? lastAt : clock.now());
    return {
      version: 1,
      batch: batch.batch,
      environment: config.environment,
      source: batch.source,
      file: batch.name,
      sha256: inspection?.sha256 ?? '',
      bytes: inspection?.bytes ?? 0,
      format: inspection?.shape.format ?? null,
      startedAt: iso(startedAt),
      finishedAt: ended ? iso(lastAt) : null,
      state,
      ...(state === 'held' && held ? { held: { reason: held.reason, since: iso(held.since) } } : {}),
      counts: { records: inspection?.records ?? 0, orders: batch.total ?? 0, ...counts },
      ...(inbox === undefined ? {} : { inbox }),
      open: batch.open,
      warnings: inspection?.warnings ?? [],
      pauses: pauses.map(({ reason, from, to }) => ({
        reason,
        from: iso(from),
        to: to === undefined ? null : iso(to),
      })),
    };
  };
}

/** The inbox of the batch's own source; for an export, the first inbox of the environment. */
function inboxFor({ source }: Batch, { sources }: Config): string | undefined {
  const inboxes = sources.filter(({ type }) => type === 'inbox');
  return (inboxes.find(({ name }) => name === source) ?? inboxes[0])?.path;
}
