import path from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { createCheckpointFile, createIdentity, type Identity } from '../../src/ledger/identity.ts';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { type Keys, keysOf } from '../../src/redis/keys.ts';
import { createRedisTime, type RedisTime } from '../../src/redis/time.ts';
import { makeTempFolder } from './temp-folder.ts';
import { startTestRedis, type TestRedis } from './test-redis.ts';

export type OpenRedis = AsyncDisposable & {
  server: TestRedis;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  identity: Identity;
};

/** A separate real Redis with one connection, removed when disposed. */
export async function openTestRedis(): Promise<OpenRedis> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestRedis());
  const redis = await connectRedis(server.url);
  stack.defer(() => redis.disconnect());
  const keys = keysOf('staging');
  const time = await createRedisTime(redis, keys, systemClock);
  const folder = stack.use(await makeTempFolder());
  const kept = stack.move();
  const identity = createIdentity({
    redis,
    keys,
    time,
    wait: 0,
    checkpoint: createCheckpointFile(path.join(folder.path, 'ledger.json')),
  });
  return { server, redis, keys, time, identity, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
