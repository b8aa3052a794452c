import { hostname } from 'node:os';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';

/** What a daemon knows of its own process. */
export type Self = { pid: number; version: string };

/** A daemon as `status` shows it. `since` is Redis time in milliseconds. */
export type LivingDaemon = Self & { host: string; since: number };

/** A daemon that said nothing for so long is gone. */
const ALIVE = 10_000;
/** After which time even its name is forgotten. */
const REMEMBERED = 3_600_000;

type Deps = { redis: Redis; keys: Keys; time: RedisTime; id: string; self: Self };

/** Tells everybody that this daemon lives: `beat` now and then; disposing says that it ended. */
export function openHeartbeat({ redis, keys, time, id, self }: Deps) {
  const text = JSON.stringify({ ...self, host: hostname(), since: time.now() } satisfies LivingDaemon);
  return {
    async beat(): Promise<void> {
      const now = time.now();
      await redis
        .multi()
        .set(keys.daemon(id), text, 'PX', ALIVE)
        .zadd(keys.daemons, now, id)
        .zremrangebyscore(keys.daemons, '-inf', now - REMEMBERED)
        .exec();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      // While Redis is away it forgets us by itself.
      if (redis.status === 'ready') await redis.del(keys.daemon(id));
    },
  };
}

/** The daemons of the environment that live, the oldest first. */
export async function livingDaemons({ redis, keys }: { redis: Redis; keys: Keys }): Promise<LivingDaemon[]> {
  const ids = await redis.zrange(keys.daemons, 0, '-1');
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map((id) => keys.daemon(id)));
  const alive = texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as LivingDaemon]));
  return alive.sort((a, b) => a.since - b.since);
}
