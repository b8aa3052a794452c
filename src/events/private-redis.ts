import type { Log } from '../log/log.ts';

/** A private Redis was started and serves. */
export function privateRedisStarted(log: Log, facts: { port: number; serverPid: number; durationMs: number }): void {
  log.info({ ...facts }, 'private Redis started');
}

/** One that was running already is used. */
export function privateRedisAdopted(log: Log, facts: { port: number }): void {
  log.info({ ...facts }, 'private Redis adopted');
}

/** It reads its data, which can take a while; told once. */
export function privateRedisLoading(log: Log, facts: { port: number }): void {
  log.info({ ...facts }, 'private Redis loads its data');
}

/** It ended or was ended while we use it; it will be started again. */
export function privateRedisLost(log: Log, facts: { port: number }): void {
  log.warn({ ...facts }, 'private Redis is gone');
}

/** It could not be started again, for the `attempt`th time since it was lost; tried on and on. */
export function privateRedisNotRevived(log: Log, facts: { code: string; error: string; attempt: number }): void {
  log.error({ ...facts }, 'private Redis does not come back');
}

/** Nobody uses it any more: told to end. */
export function privateRedisStopped(log: Log, facts: { port: number; durationMs: number }): void {
  log.info({ ...facts }, 'private Redis stopped');
}

/** Left running for whoever else uses it. */
export function privateRedisLeft(log: Log, facts: { port: number; clients: number }): void {
  log.info({ ...facts }, 'private Redis left to its other users');
}

/** It did not answer when it should have stopped: left as it is, adopted at the next start. */
export function privateRedisNotStopped(log: Log, facts: { port: number; error: string }): void {
  log.warn({ ...facts }, 'private Redis not stopped');
}
