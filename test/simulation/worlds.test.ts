import { afterAll, describe, expect, it } from 'vitest';
import { emptySum, liveMany, tell } from './worlds.ts';

const SHARDS = 10;
/** Of 40 orders each. */
const WORLDS = 500;

const sum = emptySum();

/**
 * The program's own parts under virtual time, in worlds where processes die, stand still and sleep, Redis is away, loses
 * answers and is set back, the queue loses jobs, and the API fails in every way the assumptions allow.
 */
describe('5,000 simulated worlds', () => {
  it.each(Array.from({ length: SHARDS }, (_, shard) => 1 + shard * WORLDS))(
    'lose no order, create none twice and give none up falsely, from seed %i on',
    async (from) => {
      const { faults } = await liveMany(from, WORLDS, {}, sum);
      expect(await tell(faults)).toBe('');
      expect(sum.troubles).toEqual([]);
    },
    240_000,
  );

  it('are hard, and deliver all the same', () => {
    expect(sum.orders).toBe(200_000);
    expect(sum.accepted).toBeGreaterThan(180_000);
    expect(sum.sent).toBeGreaterThan(1.2 * sum.accepted);
    expect(sum.deaths).toBeGreaterThan(5_000);
    expect(sum.freezes).toBeGreaterThan(5_000);
    expect(sum.rollbacks).toBeGreaterThan(400);
  });

  afterAll(() => {
    const { faults, troubles: _, ...figures } = sum;
    console.log(JSON.stringify({ ...figures, faults: faults.length }));
  });
});
