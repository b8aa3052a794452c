/**
 * What the bench tells its API: begin to count anew, with this many milliseconds before each answer; go on with
 * another latency; or just tell.
 */
export type ApiOrder =
  | { kind: 'begin'; latency: number; expected: number }
  | { kind: 'slow'; latency: number }
  | { kind: 'tell' };

/** What the API saw since it began to count; times in milliseconds since 1970. */
export type ApiSeen = { posts: number; orders: number; firstAt: number; lastAt: number };
