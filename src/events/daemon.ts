import type { Log } from '../log/log.ts';

/** The daemon begins: nothing is opened yet. */
export function daemonStarting(log: Log, facts: { environment: string; version: string; config: string }): void {
  log.info({ ...facts }, 'po-sync starts');
}

/** Everything is open and the sources are watched. */
export function daemonReady(log: Log, facts: { environment: string; adminPort: number }): void {
  log.info({ ...facts }, 'po-sync is ready');
}

/** Told to stop: nothing new is taken, calls in flight are finished. */
export function daemonStopping(log: Log, facts: { environment: string; reason: string }): void {
  log.info({ ...facts }, 'po-sync stops');
}

/** Everything is closed; what was not finished stays for the next start. */
export function daemonStopped(log: Log, facts: { environment: string }): void {
  log.info({ ...facts }, 'po-sync has stopped');
}

/** Something in the configuration, or in how a secret is kept, is allowed but doubtful. */
export function configWarning(log: Log, warning: string): void {
  log.warn({ warning }, 'configuration to look at');
}
