import { describe, expect, it } from 'vitest';
import { emptySum, liveMany, tell } from './worlds.ts';

const WORLDS = 50;

/** The short form of test/worlds, with seeds that it does not use. */
describe('200 simulated worlds', () => {
  const sum = emptySum();

  it.each([100_001, 200_001, 300_001, 400_001])(
    'lose no order, create none twice, leave none without an end and report each correctly, from seed %i on',
    async (from) => {
      const before = sum.faults.length;
      await liveMany(from, WORLDS, {}, sum);
      expect(await tell(sum.faults.slice(before))).toBe('');
      expect(sum.troubles).toEqual([]);
    },
  );

  it('are hard, and deliver all the same', () => {
    expect(sum.accepted).toBeGreaterThan(0.7 * sum.orders);
    expect(sum.deaths).toBeGreaterThan(200);
    expect(sum.rollbacks).toBeGreaterThan(4);
  });
});
