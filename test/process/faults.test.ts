import { describe, expect, it } from 'vitest';
import { kills } from '../faults/kills.ts';
import { redisKills } from '../faults/redis-trouble.ts';

// The short forms of test/faults/faults.test.ts, which `npm run test:faults` runs.
const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };

describe('no order is lost or doubled', () => {
  it('when one of two daemons is killed with kill -9, 3 times', async () => {
    expect(await kills(3)).toMatchObject({ ...ALL_THERE, kills: 3, files: 3 });
  });

  it('when Redis is killed with kill -9, 2 times', async () => {
    expect(await redisKills(2)).toMatchObject({ ...ALL_THERE, kills: 2 });
  });
});
