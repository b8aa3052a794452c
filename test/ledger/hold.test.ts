import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';
import { refusals } from '../support/refusals.ts';

describe('a hold and a release of a batch at the same time', () => {
  let store: OpenRedis;
  let other: Redis;
  beforeAll(async () => {
    store = await openTestRedis();
    other = await connectRedis(store.server.url);
  });
  afterAll(async () => {
    other.disconnect();
    await store[Symbol.asyncDispose]();
  });

  const file = (batch: string) =>
    ({ batch, source: 'inbox', kind: 'inbox', name: 'a.csv', path: '/none' }) as const;
  const refused = (alike: string) => ({ wait: refusals(alike), alike });
  const batchesOf = (redis: Redis) => createBatches({ redis, keys: store.keys, owner: 'me' });

  /** Whether the batch itself, and the set of held ones, say that it is held. */
  async function places(batch: string): Promise<[boolean, boolean]> {
    const batches = batchesOf(store.redis);
    const [found, held] = await Promise.all([batches.find(batch), batches.held()]);
    return [found?.held !== undefined, held.includes(batch)];
  }

  it.each(['a release', 'its end'])(
    '%s leaves a batch held in both places, or in none',
    async (what) => {
      const [one, two] = [batchesOf(store.redis), batchesOf(other)];
      for (let round = 0; round < 150; round += 1) {
        const batch = `${what}-${round}`;
        await one.begin(file(batch), 1);
        if (round % 2 === 0) await one.hold(batch, refused('first'), 1);
        const end = async () =>
          what === 'a release' ? await two.release(batch) : await two.done(batch);
        await Promise.all([
          one.hold(batch, refused('second'), 2),
          end(),
          one.hold(batch, refused('third'), 3),
        ]);
        const [inBatch, inSet] = await places(batch);
        expect([round, inSet]).toEqual([round, inBatch]);
        if (what === 'its end') expect([round, inSet]).toEqual([round, false]);
      }
    },
  );

  it('a release by a person counts for the hold that it ends', async () => {
    const batches = batchesOf(store.redis);
    await batches.begin(file('b'), 1);
    expect(await batches.hold('b', refused('first'), 1)).toBe('held');
    expect(await batches.hold('b', refused('second'), 2)).toBe('before');
    expect(await batches.release('b', { at: 3, who: 'anna' })).toBe(true);
    expect(await batches.release('b', { at: 4, who: 'anna' })).toBe(false);
    expect(await batches.hold('b', refused('first'), 5)).toBe('not');
    expect(await batches.hold('b', refused('second'), 6)).toBe('held');
    expect(await places('b')).toEqual([true, true]);
  });
});
