import type { Log } from '../log/log.ts';

/** Old reports or day folders were removed. */
export function reportsExpired(log: Log, facts: { removed: number; durationMs: number }): void {
  log.info({ ...facts }, 'old reports removed');
}

/** Something old could not be removed; it is tried again at the next round. */
export function expiryFailed(log: Log, facts: { path: string; error: string }): void {
  log.warn({ ...facts }, 'old report could not be removed');
}
