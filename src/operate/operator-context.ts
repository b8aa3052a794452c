import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Store } from '../redis/store.ts';
import type { Operator } from './operator.ts';

/** What every operation works on: one environment's configuration and store, shared with its daemons, and who acts. */
export type OperatorContext = {
  config: Config;
  store: Store;
  ledger: Ledger;
  batches: Batches;
  queue: OrderQueue;
  breaker: CircuitBreaker;
  operator: Operator;
  clock: Clock;
};
