/** A call to the API or its token endpoint. */
export type Operation = 'create' | 'list' | 'token';

/** Counts what happens, for the metrics. The functions of `events/` call it where the log that they receive has one. */
export type Meter = {
  /** An attempt to create an order ended. */
  attempt(result: string): void;
  /** A request ended `ms` after its first byte; without a status no answer came. */
  request(operation: Operation, status: number | undefined, ms: number): void;
  /** A token was requested. */
  token(result: string): void;
  /** The API's list was read. */
  list(result: string): void;
  /** Delivery pauses. */
  pause(code: string): void;
  /** A file of a source was taken, admitted, finished, or found unreadable. */
  file(source: string, result: 'taken' | 'admitted' | 'finished' | 'unreadable'): void;
  /** Orders of a batch have their outcome. `ms`: from the claim of their file to their acceptance. */
  settled(batch: string, outcome: string, orders: number, ms?: number): void;
  /** A notice was sent, delayed, lost or dropped. */
  notice(receiver: string, result: 'sent' | 'delayed' | 'lost'): void;
};
