import type { FaultKind } from './faults/fault-file.ts';

/** The three calls that the specification shows, and everything else. */
export type Operation = 'create' | 'list' | 'token' | 'other';

/** What happens in a sandbox; `at` in milliseconds since 1970. */
export type SandboxEvent =
  /** A create call whose body was read; `order` is "" when it names none. */
  | { type: 'received'; at: number; order: string }
  /** An order is durable. */
  | { type: 'stored'; at: number; order: string }
  /** A call is over; `status` 0 when the connection was dropped instead. */
  | { type: 'answered'; at: number; durationMs: number; on: Operation; method: string; path: string; status: number }
  /** The token endpoint's verdict: `issued`, or the error of RFC 6749 part 5.2. */
  | { type: 'token'; at: number; outcome: string }
  | { type: 'fault'; at: number; on: Operation; kind: FaultKind; order: string }
  /** A bug or a failing disk; the caller got a 500. */
  | { type: 'crashed'; at: number; error: Error };

export type Tell = (event: SandboxEvent) => void;
