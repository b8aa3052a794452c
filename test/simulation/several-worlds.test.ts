import { describe, expect, it } from 'vitest';
import { emptySum, liveMany, tell } from './worlds.ts';

const WORLDS = 50;

/** The short form of test/worlds, with seeds that it does not use. */
describe('200 simulated worlds', () => {
  it.each([100_001, 200_001, 300_001, 400_001])(
    'lose no order, create none twice, leave none without an end and report each correctly, from seed %i on',
    async (from) => {
      const sum = emptySum();
      const { faults } = await liveMany(from, WORLDS, {}, sum);
      expect(await tell(faults)).toBe('');
      expect(sum.troubles).toEqual([]);
      expect(sum.accepted).toBeGreaterThan(0.6 * sum.orders);
      expect(sum.deaths).toBeGreaterThan(50);
      expect(sum.rollbacks).toBeGreaterThan(1);
    },
  );
});
