import { expect, it } from 'vitest';
import { OUTCOMES } from '../../src/order/outcome.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

type Shown = {
  queue: { unsettledOrders: number; unreadOrders: number };
  batches: { state: string; counts: Record<string, number> & { orders: number | null } }[];
};

it('while a long file is delivered, every call of status counts each of its orders once', async () => {
  // Slow until it was seen while it is read.
  const faults = { faults: [{ kind: 'delay', by: '500ms' }] };
  await using place = await openWorkplace({ faults, sandbox: { record: true } });
  place.start(['start']);
  await place.drop('long.csv', csvOf(1_000));
  const look = async () => {
    const { queue, batches }: Partial<Shown> = await place.json('status');
    // A command that Redis does not answer in time gives an error.
    const [batch] = batches ?? [];
    if (!queue || batch === undefined || batch.counts.orders === null) return undefined;
    const settled = OUTCOMES.reduce((sum, outcome) => sum + (batch.counts[outcome] ?? 0), 0);
    expect(settled + queue.unsettledOrders + queue.unreadOrders).toBe(1_000);
    return { ...batch, settled };
  };
  for (const least of [0, 1])
    await until('the file to be read on', async () => {
      const seen = await look();
      return seen?.state === 'reading' && seen.settled > least;
    });
  await place.setFaults([]);
  await until('the file to be read to its end', async () => (await look())?.state !== 'reading');
});
