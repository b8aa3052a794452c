import { afterAll, describe, expect, it } from 'vitest';
import { emptySum, liveMany, tell } from '../simulation/worlds.ts';

const SHARDS = 5;
/** Of 40 orders each. */
const WORLDS = 500;

/**
 * The program's own parts under virtual time, in worlds where processes die, stand still and sleep, Redis is away, loses
 * answers and is set back, the queue loses jobs, and the API fails in every way the assumptions allow.
 */
export function describeHardWorlds(first: number): void {
  const sum = emptySum();

  describe('2,500 simulated worlds', () => {
    it.each(Array.from({ length: SHARDS }, (_, shard) => first + shard * WORLDS))(
      'lose no order, create none twice, leave none without an end and report each correctly, from seed %i on',
      async (from) => {
        const { faults } = await liveMany(from, WORLDS, {}, sum);
        expect(await tell(faults)).toBe('');
        expect(sum.troubles).toEqual([]);
      },
    );

    it('are hard, and deliver all the same', () => {
      expect(sum.orders).toBeGreaterThan(95_000);
      expect(sum.accepted).toBeGreaterThan(70_000);
      expect(sum.sent).toBeGreaterThan(1.2 * sum.accepted);
      expect(sum.deaths).toBeGreaterThan(2_500);
      expect(sum.freezes).toBeGreaterThan(2_500);
      expect(sum.rollbacks).toBeGreaterThan(200);
    });

    afterAll(() => {
      const { faults, troubles: _, ...figures } = sum;
      console.log(JSON.stringify({ ...figures, faults: faults.length }));
    });
  });
}
