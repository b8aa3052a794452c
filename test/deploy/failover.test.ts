import { describe, expect, it } from 'vitest';
import { failover } from '../faults/failover.ts';

// The short forms of test/faults/failover.test.ts, which `npm run test:failover` runs.
const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };

describe('no order is lost or doubled', () => {
  it('when Sentinels replace a primary that was killed', async () => {
    expect(await failover('Sentinel', 'killed', 400)).toMatchObject(ALL_THERE);
  });

  it('when a cluster replaces a primary that was killed', async () => {
    expect(await failover('Cluster', 'killed', 400)).toMatchObject(ALL_THERE);
  });

  it('when Sentinels promote a replica without the last writes, and the daemons notice it', async () => {
    const figures = await failover('Sentinel', 'writes lost', 400);
    expect(figures).toMatchObject(ALL_THERE);
    expect(figures.noticed).toBeGreaterThan(0);
  });
});
