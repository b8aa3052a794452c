/**
 * Full jitter: anything from nothing to the exponential ceiling, so that many orders do not come again together.
 * `failed` counts from 1; `initial`, `max` and the result are milliseconds.
 */
export function backoff(
  failed: number,
  { initial, max }: { initial: number; max: number },
  random = Math.random,
): number {
  const ceiling = Math.min(max, initial * 2 ** Math.min(Math.max(failed - 1, 0), 30));
  return Math.round(random() * ceiling);
}
