import { describe, expect, it } from 'vitest';
import { failover, LOSSES, WAYS } from './failover.ts';

/** The figures of docs/operations/redis.md come from 20,000 orders each. */
const ORDERS = Number(process.env['FAILOVER_ORDERS'] ?? 20_000);

describe.each(WAYS)('%s', (way) => {
  it.each(LOSSES)('%s in the middle of the work: no order is lost or doubled', async (loss) => {
    const figures = await failover(way, loss, ORDERS);
    expect(figures).toMatchObject({ lost: 0, double: 0, givenUp: 0, untidy: [] });
    if (loss === 'writes lost') expect(figures.noticed).toBeGreaterThan(0);
  });
});
