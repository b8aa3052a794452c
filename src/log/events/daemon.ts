import { error, info, warn } from '../event.ts';

/** The daemon starts; nothing is open yet. */
export const daemonStarting = info<{ environment: string; version: string; config: string }>(
  'daemon-starting',
);

/** Everything is open and the sources are watched. */
export const daemonReady = info<{ environment: string; adminPort: number }>('daemon-ready');

/** A stop was requested: no new file or order is taken, calls in flight are finished. */
export const daemonStopping = info<{ environment: string; reason: string }>('daemon-stopping');

/** Everything is closed; unfinished work stays for the next start. */
export const daemonStopped = info<{ environment: string }>('daemon-stopped');

/** It cannot do its work and ends with exit code 1; standard error has the same message. Not logged on a terminal. */
export const daemonFailed = error<{
  environment: string;
  code: string;
  reason: string;
  remedy?: string;
}>('daemon-failed');

/** The configuration is allowed but probably not intended. */
export const configWarning = warn<{ warning: string }>('config-warning');

/** A private Redis was started and accepts commands. */
export const privateRedisStarted = info<{ port: number; serverPid: number; durationMs: number }>(
  'private-redis-started',
);

/** The server ended while in use, or its connection did; it is adopted or started again. */
export const privateRedisLost = warn<{ port: number }>('private-redis-lost');

/** Attempt number `attempt` to start the server again failed. */
export const privateRedisNotRevived = error<{ code: string; error: string; attempt: number }>(
  'private-redis-not-revived',
);

/** The last user stopped the server. */
export const privateRedisStopped = info<{ port: number; durationMs: number }>(
  'private-redis-stopped',
);

/** `data` or `reports` vanished while the daemon runs. */
export const folderLost = error<{ folder: string; path: string; remedy: string }>('folder-lost');

/** It is there again, and everything continues. */
export const folderBack = info<{ folder: string; path: string; durationMs: number }>('folder-back');

/** Somebody used a wrong token at the admin port. Logged at most ten times a minute. */
export const signInFailed = warn<object>('sign-in-failed');

/** The lists of the dashboard could not be brought up to date; they are tried again. */
export const readModelTrouble = warn<{ reason: string }>('read-model-trouble');

/** A person acted at the admin port. */
export const operatorActed = info<{ who: string; what: string; on: string; result: string }>(
  'operator-acted',
);

/** The collector did not take spans. Delivery continues. */
export const tracingTrouble = warn<{ reason: string }>('tracing-trouble');
