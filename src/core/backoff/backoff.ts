/** A wait that grows with every failure: `initial` after the first, at most `max`. Both in milliseconds. */
export type Backoff = { initial: number; max: number };

/**
 * Exponential wait without jitter, in milliseconds: `min(max, initial × 2^(failures − 1))`. `failures` counts from 1.
 * Two scripts compute the same curve where all daemons count together: circuit-breaker.lua and ledger-rebuild.lua.
 */
export function growingWait(failures: number, { initial, max }: Backoff): number {
  return Math.min(max, initial * 2 ** Math.min(Math.max(failures - 1, 0), 30));
}

/**
 * Exponential wait with full jitter, in milliseconds: a random value between 0 and `growingWait`.
 * Spreads the retries of many orders that failed together.
 */
export function backoff(failures: number, curve: Backoff, random = Math.random): number {
  return Math.round(random() * growingWait(failures, curve));
}
