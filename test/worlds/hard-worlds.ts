import { afterAll, describe, expect, it } from 'vitest';
import { emptySum, liveMany, tell } from '../simulation/worlds.ts';

const SHARDS = 5;
/** All worlds of both files, of 40 orders each: `WORLDS=5000 npm run test:worlds` before a release. */
const ALL = Number(process.env['WORLDS'] ?? 1_000);
const WORLDS = Math.ceil(ALL / (2 * SHARDS));

/**
 * The program's own parts under virtual time, in worlds where processes die, freeze and sleep, Redis is not reachable,
 * loses answers and is set back, the queue loses jobs, and the API fails in every way the assumptions allow.
 */
export function describeHardWorlds(half: 0 | 1): void {
  const sum = emptySum();
  const first = 1 + half * SHARDS * WORLDS;
  const share = (SHARDS * WORLDS) / 2_500;

  describe(`${SHARDS * WORLDS} simulated worlds`, () => {
    it.each(Array.from({ length: SHARDS }, (_, shard) => first + shard * WORLDS))(
      'lose no order, create none twice, leave none without an end and report each correctly, from seed %i on',
      async (from) => {
        const { faults } = await liveMany(from, WORLDS, {}, sum);
        expect(await tell(faults)).toBe('');
        expect(sum.troubles).toEqual([]);
      },
    );

    it('are hard, and deliver all the same', () => {
      expect(sum.orders).toBeGreaterThan(share * 95_000);
      expect(sum.accepted).toBeGreaterThan(share * 70_000);
      expect(sum.sent).toBeGreaterThan(1.2 * sum.accepted);
      expect(sum.deaths).toBeGreaterThan(share * 2_000);
      expect(sum.freezes).toBeGreaterThan(share * 2_000);
      expect(Object.keys(sum.lists)).toHaveLength(9);
      expect(sum.rollbacks).toBeGreaterThan(share * 100);
    });

    afterAll(() => {
      const { faults, troubles: _, ...figures } = sum;
      console.log(JSON.stringify({ ...figures, faults: faults.length }));
    });
  });
}
