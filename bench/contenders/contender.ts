import type { OrderFile } from '../order-file.ts';
import type { RedisFigures } from '../redis-figures.ts';

/** What delivering one file took. */
export type Delivered = {
  /** From the file being there to the last order accepted. */
  milliseconds: number;
  /** Processor time of the process that does it, in microseconds. */
  cpu: number;
  /** What its Redis did meanwhile, where it has one. */
  redis?: RedisFigures;
};

/** One way to get the orders of a file to the API, with as many calls in flight as all the others. */
export type Contender = AsyncDisposable & { deliver(file: OrderFile): Promise<Delivered> };

/** Calls in flight. */
export const CONCURRENCY = 64;
