import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startTestRedis } from './test-redis.ts';

test('the test Redis keeps what was written across kill -9 and is gone when disposed', async () => {
  let client: Redis;
  {
    await using redis = await startTestRedis();
    client = new Redis(redis.url, { retryStrategy: () => 20 });
    client.on('error', () => undefined);
    await client.set('{posync:test}:order', '4711');
    await redis.kill();
    await redis.restart();
    expect(await client.get('{posync:test}:order')).toBe('4711');
    expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always']);
  }
  client.disconnect();
  const late = new Redis(client.options.port ?? 0, { lazyConnect: true, retryStrategy: null });
  late.on('error', () => undefined);
  await expect(late.connect()).rejects.toThrow();
  late.disconnect();
});
