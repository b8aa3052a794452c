import type { Clock } from '../core/clock.ts';
import { iso } from '../core/format.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch } from '../ledger/batches.ts';
import type { Report } from '../report/report.ts';

type Deps = { breaker: CircuitBreaker; environment: string; clock: Clock };

/** Builds the step that turns a batch into its `report.json`. */
export function createReportOfBatch({ breaker, environment, clock }: Deps) {
  return async (batch: Batch, state: Report['state']): Promise<Report> => {
    const { inspection, counts, startedAt, lastAt } = batch;
    const ended = state === 'finished' || state === 'unreadable';
    const pauses = await breaker.during(startedAt, ended ? lastAt : clock.now());
    return {
      version: 1,
      batch: batch.batch,
      environment,
      source: batch.source,
      file: batch.name,
      sha256: inspection?.sha256 ?? '',
      bytes: inspection?.bytes ?? 0,
      format: inspection?.shape.format ?? null,
      startedAt: iso(startedAt),
      finishedAt: ended ? iso(lastAt) : null,
      state,
      counts: { records: inspection?.records ?? 0, orders: batch.total ?? 0, ...counts },
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
