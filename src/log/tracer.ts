/** What tracing reads of an order in the ledger. */
export type TracedOrder = {
  batch: string;
  order: { purchaseOrderNumber: string };
  place: { line: number };
};

/** How an attempt ended, as it is logged. */
export type AttemptFacts = { attempt: number; durationMs: number; outcome: string; code?: string };

type FileFacts = { batch: string; source: string; file: string };

/**
 * Records spans from the events of `events/`; see docs/watching.md. The log has one only while tracing is on.
 * No function throws or waits.
 */
export type Tracer = {
  attempt(order: TracedOrder, facts: AttemptFacts): void;
  /** An order has its outcome. */
  settled(order: TracedOrder, outcome: string, code?: string): void;
  /** The report of a file is written. */
  finished(facts: FileFacts & { orders: number; accepted: number; needPerson: number }): void;
};
