import type { Log } from '../log/log.ts';

/** The daemon starts; nothing is open yet. */
export function daemonStarting(log: Log, facts: { environment: string; version: string; config: string }): void {
  log.info({ event: 'daemon-starting', ...facts }, 'po-sync starts');
}

/** Everything is open and the sources are watched. */
export function daemonReady(log: Log, facts: { environment: string; adminPort: number }): void {
  log.info({ event: 'daemon-ready', ...facts }, 'po-sync is ready');
}

/** A stop was requested: no new file or order is taken, calls in flight are finished. */
export function daemonStopping(log: Log, facts: { environment: string; reason: string }): void {
  log.info({ event: 'daemon-stopping', ...facts }, 'po-sync stops');
}

/** Everything is closed; unfinished work stays for the next start. */
export function daemonStopped(log: Log, facts: { environment: string }): void {
  log.info({ event: 'daemon-stopped', ...facts }, 'po-sync has stopped');
}

/** The configuration, or how a secret is stored, is allowed but probably not intended. */
export function configWarning(log: Log, warning: string): void {
  log.warn({ event: 'config-warning', warning }, 'check the configuration');
}
