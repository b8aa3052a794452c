/**
 * The bench's requests to its API: reset the counters and delay each answer by this many milliseconds; change the
 * latency; or report.
 */
export type ApiOrder =
  | { kind: 'begin'; latency: number; expected: number }
  | { kind: 'slow'; latency: number }
  | { kind: 'tell' };

/** What the API received since the last reset; times in milliseconds since 1970. */
export type ApiSeen = { posts: number; orders: number; firstAt: number; lastAt: number };
