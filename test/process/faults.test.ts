import { describe, expect, it } from 'vitest';
import { kills } from '../faults/kills.ts';
import { listForbidden } from '../faults/list-forbidden.ts';
import { flushes, redisKills } from '../faults/redis-trouble.ts';

// The short forms of test/faults/faults.test.ts, which `npm run test:faults` runs.
const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };

describe('no order is lost or doubled', () => {
  it('when one of two daemons is killed with kill -9, 3 times', async () => {
    expect(await kills(3)).toMatchObject({ ...ALL_THERE, kills: 3, files: 3 });
  });

  it('when Redis is killed with kill -9, 2 times', async () => {
    expect(await redisKills(2)).toMatchObject({ ...ALL_THERE, kills: 2 });
  });

  it('when Redis is flushed in the middle of the work', async () => {
    const figures = await flushes(1, 300);
    expect(figures).toMatchObject(ALL_THERE);
    // By both daemons, if neither saw what the other one noticed.
    expect([1, 2]).toContain(figures.noticed);
  });

  it('where the list is forbidden and connections drop: uncertain orders are left to a person', async () => {
    const figures = await listForbidden(100);
    expect(figures).toMatchObject({ lost: 0, double: 0, untidy: [] });
    expect(figures).toMatchObject({ inDoubt: figures.struck, accepted: 100 - figures.struck });
  });
});
