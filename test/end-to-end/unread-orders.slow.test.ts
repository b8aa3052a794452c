import { expect, it } from 'vitest';
import { OUTCOMES } from '../../src/order/outcome.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

type Shown = {
  queue: { unsettledOrders: number; unreadOrders: number };
  batches: { state: string; counts: Record<string, number> & { orders: number | null } }[];
};

it('while a long file is delivered, every call of status counts each of its orders once', async () => {
  const faults = { faults: [{ kind: 'delay', by: '20ms' }] };
  await using place = await openWorkplace({ faults, delivery: ', concurrency: 8' });
  place.start(['start']);
  await place.drop('long.csv', csvOf(2000));
  let whileRead = 0;
  await until('the file to be read to its end', async () => {
    const { queue, batches }: Shown = JSON.parse((await place.run(['--json', 'status'])).out);
    const [batch] = batches;
    if (batch === undefined || batch.counts.orders === null) return false;
    const settled = OUTCOMES.reduce((sum, outcome) => sum + (batch.counts[outcome] ?? 0), 0);
    expect(settled + queue.unsettledOrders + queue.unreadOrders).toBe(2000);
    if (batch.state === 'reading' && settled > 0) whileRead += 1;
    return batch.state === 'sending';
  });
  expect(whileRead).toBeGreaterThan(1);
});
