import type { Log } from '../log.ts';

/** The daemon starts; nothing is open yet. */
export function daemonStarting(
  log: Log,
  facts: { environment: string; version: string; config: string },
): void {
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

/** It cannot do its work and ends with exit code 1; standard error has the same message. Not logged on a terminal. */
export function daemonFailed(
  log: Log,
  facts: { environment: string; code: string; reason: string; remedy?: string },
): void {
  log.error({ event: 'daemon-failed', ...facts }, 'po-sync cannot do its work');
}

/** The configuration, or how a secret is stored, is allowed but probably not intended. */
export function configWarning(log: Log, warning: string): void {
  log.warn({ event: 'config-warning', warning }, 'the configuration may not be what was intended');
}

/** A private Redis was started and accepts commands. */
export function privateRedisStarted(
  log: Log,
  facts: { port: number; serverPid: number; durationMs: number },
): void {
  log.info({ event: 'private-redis-started', ...facts }, 'private Redis started');
}

/** The server ended while in use, or its connection did; it is adopted or started again. */
export function privateRedisLost(log: Log, facts: { port: number }): void {
  log.warn(
    { event: 'private-redis-lost', ...facts },
    'private Redis was lost; it is adopted if it still runs, or started again',
  );
}

/** Attempt number `attempt` to start the server again failed. */
export function privateRedisNotRevived(
  log: Log,
  facts: { code: string; error: string; attempt: number },
): void {
  log.error(
    { event: 'private-redis-not-revived', ...facts },
    'private Redis could not be started, will retry',
  );
}

/** The last user stopped the server. */
export function privateRedisStopped(log: Log, facts: { port: number; durationMs: number }): void {
  log.info({ event: 'private-redis-stopped', ...facts }, 'private Redis stopped');
}

/** `data` or `reports` vanished while the daemon runs. */
export function folderLost(
  log: Log,
  facts: { folder: string; path: string; remedy: string },
): void {
  log.error({ event: 'folder-lost', ...facts }, 'a folder of po-sync is gone');
}

/** It is there again, and everything continues. */
export function folderBack(
  log: Log,
  facts: { folder: string; path: string; durationMs: number },
): void {
  log.info({ event: 'folder-back', ...facts }, 'a folder of po-sync is there again');
}

/** Somebody used a wrong token at the admin port. Logged at most ten times a minute. */
export function signInFailed(log: Log): void {
  log.warn({ event: 'sign-in-failed' }, 'wrong token at the admin port');
}

/** The lists of the dashboard could not be brought up to date; they are tried again. */
export function readModelTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'read-model-trouble', ...facts }, 'the lists of the dashboard are not current');
}

/** A person acted at the admin port. */
export function operatorActed(
  log: Log,
  facts: { who: string; what: string; on: string; result: string },
): void {
  log.info({ event: 'operator-acted', ...facts }, 'operator action');
}

/** The collector did not take spans. Delivery continues. */
export function tracingTrouble(log: Log, facts: { reason: string }): void {
  log.warn({ event: 'tracing-trouble', ...facts }, 'spans could not be sent');
}
