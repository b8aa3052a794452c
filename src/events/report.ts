import type { ErrorFacts } from '../errors.ts';
import type { Log } from '../log.ts';

/** The files of a batch's report stand. */
export function reportWritten(
  log: Log,
  facts: { batch: string; orders: number; open: number; durationMs: number },
): void {
  log.info({ ...facts }, facts.open > 0 ? 'report written, orders need a person' : 'report written');
}

/** A report could not be written; it is tried again, the orders go on. */
export function reportDelayed(log: Log, facts: { batch: string; attempt: number; error: string } & ErrorFacts): void {
  log.warn({ ...facts }, 'report could not be written yet');
}

/** Page and fix file could not be laid beside the settled file; the report itself stands. */
export function layingFailed(log: Log, facts: { batch: string; file: string; error: string }): void {
  log.warn({ ...facts }, 'result could not be laid beside the file');
}

/** Old reports or day folders were removed. */
export function reportsExpired(log: Log, facts: { removed: number; durationMs: number }): void {
  log.info({ ...facts }, 'old reports removed');
}

/** Something old could not be removed; it is tried again at the next round. */
export function expiryFailed(log: Log, facts: { path: string; error: string }): void {
  log.warn({ ...facts }, 'old report could not be removed');
}
