import type { Operation } from './meter.ts';

/** What tracing reads of an order in the ledger. Times are ledger time in milliseconds. */
export type TracedOrder = {
  batch: string;
  order: { purchaseOrderNumber: string };
  place: { line: number };
  /** Follows the clock: before the first attempt, when the order was admitted. */
  version: number;
  state: string;
  /** Attempts so far. */
  attempt: number;
  maybeSentAt?: number;
  history?: readonly { at: number; code: string }[];
};

/** How an attempt ended, as it is logged. */
export type AttemptFacts = { attempt: number; durationMs: number; outcome: string; code?: string };

/** One attempt of an order. */
export type AttemptTrace = {
  /** Sent with the request: `traceparent`, if the configuration asks for it. */
  headers: Readonly<Record<string, string>>;
  /** The request ended `ms` after its first byte; without a status no answer came. */
  request(status: number | undefined, ms: number): void;
  ended(facts: AttemptFacts): void;
};

type FileFacts = { batch: string; source: string; file: string };

/**
 * Records spans from the events of `events/`; see docs/watching.md. The log has one only while tracing is on.
 * No function throws or waits.
 */
export type Tracer = {
  /** An attempt begins at ledger time `now`; undefined when its order is not sampled and no header is wanted. */
  attempt(order: TracedOrder, now: number): AttemptTrace | undefined;
  /** The API's list did not show an order in doubt at ledger time `at`, so it is sent again. */
  doubtEnded(order: TracedOrder, at: number): void;
  /** An order has its outcome since `at`, ledger time. */
  settled(order: TracedOrder, outcome: string, at: number): void;
  /** An order ended at admission. */
  notAdmitted(facts: {
    batch: string;
    order: string;
    line: number;
    outcome: string;
    code: string;
  }): void;
  /** A request that is not for a single order ended `ms` after its first byte. */
  request(
    operation: Operation,
    method: string,
    url: URL,
    status: number | undefined,
    ms: number,
  ): void;
  claimed(batch: string): void;
  inspected(facts: { batch: string; records: number; bytes: number }): void;
  admitted(facts: { batch: string; orders: number }): void;
  unreadable(facts: { batch: string; code: string }): void;
  /** `durationMs`: from the claim to the last outcome. */
  finished(
    facts: FileFacts & { orders: number; accepted: number; needPerson: number; durationMs: number },
  ): void;
  /** What became of the spans of this process. */
  counts(): SpanCounts;
};

/** `failed`: the collector did not take them. Of the others, too many waited for it, or they still wait. */
export type SpanCounts = { recorded: number; exported: number; failed: number };
