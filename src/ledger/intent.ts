/** An intent that reaches Redis later than this after it was made, by Redis' clock, does not count. Milliseconds. */
export const INTENT_TRAVELS = 2_000;

/** How old an intent may be when its first byte is written, in milliseconds. A process that was suspended longer must not write. */
export const INTENT_FRESH = 2_000;

/** Milliseconds from the intent until no byte of the attempt is on its way. `timeout` is that of one call. */
export function sendingSpan(timeout: number): number {
  return INTENT_TRAVELS + INTENT_FRESH + timeout;
}
