import { hostname } from 'node:os';
import type { Redis, RedisTime } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** The daemon's own process. */
export type Self = { pid: number; version: string };

/** A daemon as `status` shows it. `since` is Redis time in milliseconds. */
export type LivingDaemon = Self & { host: string; since: number };

/** A daemon that sent no heartbeat for this long is dead. */
const ALIVE = 10_000;
/** After this time its id is removed too. */
const REMEMBERED = 3_600_000;

type Deps = { redis: Redis; keys: Keys; time: RedisTime; id: string; self: Self };

/** Publishes that this daemon is alive. Call `beat` every few seconds; disposing withdraws it. */
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
      // While Redis is unreachable the key expires.
      if (redis.status === 'ready') await redis.del(keys.daemon(id));
    },
  };
}

/** The daemons of the environment that are alive, oldest first. */
export async function livingDaemons({ redis, keys }: { redis: Redis; keys: Keys }): Promise<LivingDaemon[]> {
  const ids = await redis.zrange(keys.daemons, 0, '-1');
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map((id) => keys.daemon(id)));
  const alive = texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as LivingDaemon]));
  return alive.sort((a, b) => a.since - b.since);
}
