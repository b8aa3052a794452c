import type { Clock } from '../core/clock.ts';
import type { Gate } from '../deliver/circuit-breaker.ts';
import type { Batch } from '../ledger/batches.ts';
import type { Report } from '../report/report.ts';

type BatchReportsDeps = { gate: Gate; environment: string; clock: Clock };

/** Builds the step that tells how a batch stands, as `report.json` does. */
export function batchReports({ gate, environment, clock }: BatchReportsDeps) {
  return async (batch: Batch, state: Report['state']): Promise<Report> => {
    const { proof, counts, startedAt, lastAt } = batch;
    const ended = state === 'finished' || state === 'unreadable';
    const pauses = await gate.during(startedAt, ended ? lastAt : clock.now());
    return {
      version: 1,
      batch: batch.batch,
      environment,
      source: batch.source,
      file: batch.name,
      sha256: proof?.sha256 ?? '',
      bytes: proof?.bytes ?? 0,
      format: proof?.shape.format ?? null,
      startedAt: iso(startedAt),
      finishedAt: ended ? iso(lastAt) : null,
      state,
      counts: { records: proof?.records ?? 0, orders: batch.total ?? 0, ...counts },
      open: batch.open,
      warnings: proof?.warnings ?? [],
      pauses: pauses.map(({ reason, from, to }) => ({
        reason,
        from: iso(from),
        to: to === undefined ? null : iso(to),
      })),
    };
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
