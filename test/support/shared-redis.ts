import { inject } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { LOGIN } from './test-redis.ts';

/** The address of an empty database on the Redis that all tests of a suite share; nobody else is given it. */
export async function openDatabase(): Promise<string> {
  const host = `127.0.0.1:${inject('redis').port}`;
  const redis = await connectRedis(`redis://${host}/0`);
  try {
    return `redis://${LOGIN}${host}/${await redis.incr('databases-in-use')}`;
  } finally {
    redis.disconnect();
  }
}
