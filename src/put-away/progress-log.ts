import { type Batch, type Batches, totalOrders } from '../ledger/batches/batches.ts';
import { batchProgress } from '../log/events/batch.ts';
import type { Log } from '../log/log.ts';
import { countSettled } from '../order/outcome.ts';

/** Builds the round that logs each batch in progress of which more orders are done than at the last round. */
export function createProgressLog({ underWay }: Pick<Batches, 'underWay'>, log: Log) {
  let before = new Map<string, number>();
  return async (): Promise<void> => {
    const now = new Map<string, number>();
    for (const one of await underWay()) {
      const done = countSettled(one.counts);
      now.set(one.batch, done);
      if (done > (before.get(one.batch) ?? 0)) batchProgress(log, factsOf(one, done));
    }
    before = now;
  };
}

function factsOf(batch: Batch, done: number) {
  const orders = totalOrders(batch);
  const { batch: name, source, name: file, inspection } = batch;
  const facts = { batch: name, source, file, done };
  if (orders !== undefined) return { ...facts, orders };
  return { ...facts, ...(inspection && { records: inspection.records }) };
}
