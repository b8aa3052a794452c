import type { OrderFile } from '../order-file.ts';
import type { RedisFigures } from '../redis-figures.ts';

/** The result of delivering one file. */
export type Delivered = {
  /** From the appearance of the file to the last accepted order. */
  milliseconds: number;
  /** Processor time of the contender's process, in microseconds. */
  cpu: number;
  /** The figures of its Redis, if it has one. */
  redis?: RedisFigures;
};

/** One way to deliver the orders of a file to the API, with the same number of calls in flight as all others. */
export type Contender = AsyncDisposable & { deliver(file: OrderFile): Promise<Delivered> };

/** Calls in flight. */
export const CONCURRENCY = 64;
