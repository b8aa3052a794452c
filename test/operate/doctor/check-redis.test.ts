import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRedis } from '../../../src/operate/doctor/check-redis.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';

describe('the check of Redis', () => {
  let store: OpenRedis;
  beforeAll(async () => {
    store = await openTestRedis();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function check(
    settings: Record<string, string>,
  ): Promise<Record<string, [string, string]>> {
    for (const [name, value] of Object.entries(settings))
      await store.redis.config('SET', name, value);
    const found = await checkRedis(store.redis, 'this Redis');
    return Object.fromEntries(
      found.map(({ check: name, state, message }) => [name, [state, message]]),
    );
  }

  it.each([
    ['always', 'ok', 'confirmed writes survive'],
    ['everysec', 'warn', 'about 1 s'],
    ['no', 'warn', 'up to 30 s'],
  ])('appendfsync %s: %s', async (appendfsync, state, words) => {
    expect(await check({ appendonly: 'yes', appendfsync })).toMatchObject({
      'Redis durability': [state, expect.stringContaining(words)],
      'Redis version': ['ok', expect.stringMatching(/^\d/)],
      'Redis eviction': ['ok', 'noeviction'],
    });
  });

  it('only snapshots are a warning, no persistence is a failure', async () => {
    expect(await check({ appendonly: 'no', save: '3600 1' })).toMatchObject({
      'Redis durability': ['warn', expect.stringContaining('minutes')],
    });
    expect(await check({ appendonly: 'no', save: '' })).toMatchObject({
      'Redis durability': ['fail', expect.stringContaining('loses every order')],
    });
  });

  it('eviction is a failure, nearly full memory a warning', async () => {
    const found = await check({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '1mb' });
    expect(found).toMatchObject({
      'Redis eviction': ['fail', expect.stringContaining('drops orders')],
      'Redis memory': ['warn', expect.stringContaining('%')],
    });
  });
});
