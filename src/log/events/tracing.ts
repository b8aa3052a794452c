import type { Log } from '../log.ts';

/** Tracing is on. Never logs the headers for the collector. */
export function tracingStarted(log: Log, facts: { host: string; share: number }): void {
  log.info({ event: 'tracing-started', ...facts }, 'spans are sent to the collector');
}

/** The collector did not take spans. Delivery continues. */
export function tracingTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'tracing-trouble', ...facts }, 'spans could not be sent');
}

/** At the end of the process: spans that never reached the collector. */
export function spansLost(log: Log, facts: { failed: number; dropped: number }): void {
  log.warn({ event: 'spans-lost', ...facts }, 'some spans of this process did not reach the collector');
}
