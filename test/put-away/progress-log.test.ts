import { expect, it } from 'vitest';
import type { Batch } from '../../src/ledger/batches/batches.ts';
import { noOutcomes } from '../../src/order/outcome.ts';
import { createProgressLog } from '../../src/put-away/progress-log.ts';
import { capturedLog } from '../support/captured-log.ts';

it('a round logs the batches of which more orders are done than at the last one', async () => {
  const { log, lines } = capturedLog();
  let now: Pick<Batch, 'batch' | 'source' | 'name' | 'counts' | 'total' | 'inspection'>[] = [];
  const round = createProgressLog({ underWay: async () => now as Batch[] }, log);
  const at = (accepted: number, total?: number) => ({
    batch: 'b',
    source: 'inbox',
    name: 'a.csv',
    counts: { ...noOutcomes(), accepted, invalid: 1 },
    inspection: { records: 12 } as NonNullable<Batch['inspection']>,
    ...(total !== undefined && { total }),
  });
  const idle = { ...at(0), batch: 'idle', counts: noOutcomes() };
  for (now of [[idle], [idle, at(3)], [idle, at(3)], [at(6, 9)], []]) await round();
  const event = { event: 'batch-progress', batch: 'b', source: 'inbox', file: 'a.csv' };
  expect(lines).toMatchObject([
    { ...event, done: 4, records: 12 },
    { ...event, done: 7, orders: 9 },
  ]);
  expect(lines[0]).not.toHaveProperty('orders');
});
