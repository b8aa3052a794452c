import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRedis } from '../../../src/operate/doctor/check-redis.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';

describe('what a Redis promises', () => {
  let store: OpenRedis;
  beforeAll(async () => {
    store = await openTestRedis();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function check(settings: Record<string, string>): Promise<Record<string, [string, string]>> {
    for (const [name, value] of Object.entries(settings)) await store.redis.config('SET', name, value);
    const found = await checkRedis(store.redis, 'this Redis');
    return Object.fromEntries(found.map(({ check: name, state, message }) => [name, [state, message]]));
  }

  it.each([
    ['always', 'ok', 'nothing confirmed is lost'],
    ['everysec', 'warn', 'about a second'],
    ['no', 'warn', 'up to half a minute'],
  ])('appendfsync %s: %s', async (appendfsync, state, words) => {
    expect(await check({ appendonly: 'yes', appendfsync })).toMatchObject({
      'Redis durability': [state, expect.stringContaining(words)],
      'Redis version': ['ok', expect.stringMatching(/^\d/)],
      'Redis eviction': ['ok', 'noeviction'],
    });
  });

  it('snapshots alone are a doubt, nothing at all a failure', async () => {
    expect(await check({ appendonly: 'no', save: '3600 1' })).toMatchObject({
      'Redis durability': ['warn', expect.stringContaining('minutes')],
    });
    expect(await check({ appendonly: 'no', save: '' })).toMatchObject({
      'Redis durability': ['fail', expect.stringContaining('forgets every order')],
    });
  });

  it('one that evicts fails, one that is nearly full is told', async () => {
    const found = await check({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '1mb' });
    expect(found).toMatchObject({
      'Redis eviction': ['fail', expect.stringContaining('throw orders away')],
      'Redis memory': ['warn', expect.stringContaining('%')],
    });
  });
});
