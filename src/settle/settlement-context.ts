import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import type { Inspection } from '../parse/inspection.ts';
import type { Store } from '../redis/store.ts';

/** What settlement is built from. */
export type SettlementContext = {
  config: Config;
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  side: { batches: Batches; ledger: Ledger; breaker: CircuitBreaker };
  clock: Clock;
  log: Log;
  /** Inspections of files that this daemon read, by batch. Files of another daemon are inspected again. */
  inspections: Map<string, Inspection>;
  /** Called for each batch settled here, with the number of its orders that need a person. */
  onSettled(batch: Batch, needPerson: number): void;
};
