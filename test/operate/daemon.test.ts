import { expect, it } from 'vitest';
import type { CircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import type { Batches } from '../../src/ledger/batches/batches.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createBacklog } from '../../src/operate/daemon.ts';

it('a batch that is settled while the work is counted is counted as a report to refresh', async () => {
  let isSettled = false;
  const batches: Pick<Batches, 'underWay' | 'toRefresh'> = {
    async underWay() {
      isSettled = await Promise.resolve(true);
      return [];
    },
    toRefresh: async () => (isSettled ? ['batch'] : []),
  };
  const ledger: Pick<Ledger, 'unsettled'> = { unsettled: async () => 0 };
  const backlog = createBacklog({
    ledger: ledger as Ledger,
    batches: batches as Batches,
    breaker: {} as CircuitBreaker,
    hasLooked: () => true,
    reading: () => 0,
  });
  expect(await backlog.unfinished()).toBe(1);
});
