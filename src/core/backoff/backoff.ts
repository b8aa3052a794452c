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

/**
 * Builds the rule of when a repeated event is reported: the first of a series at once, the next ones with growing gaps
 * (milliseconds). Another event begins a new series.
 */
export function createNews(
  now: () => number,
  gaps: Parameters<typeof growingWait>[1],
): (event: string) => boolean {
  let series = '';
  let reports = 0;
  let silentUntil = 0;
  return (event) => {
    if (event !== series) reports = 0;
    else if (now() < silentUntil) return false;
    series = event;
    reports += 1;
    silentUntil = now() + growingWait(reports, gaps);
    return true;
  };
}
