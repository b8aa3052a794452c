import type { Clock } from '../core/clock.ts';
import type { Redis } from './connect.ts';

/** Redis' clock, the one clock that all daemons share; wall clocks of hosts are never compared. */
export type RedisTime = {
  /** Milliseconds since 1970 by Redis' clock, as far as known. */
  now(): number;
  /** Asks Redis again; call now and then, and after a reconnect. */
  sync(): Promise<void>;
};

/** An answer that took longer, over an outage or while this process stood still, may be wrong by half as much. */
const TRUSTED = 500;
const TRIES = 5;

/** Asks Redis for its time and counts on from there with the monotonic clock. */
export async function createRedisTime(redis: Redis, clock: Clock): Promise<RedisTime> {
  let offset = 0;

  async function sync(): Promise<void> {
    let shortest = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < TRIES && shortest > TRUSTED; tries += 1) {
      const before = clock.monotonic();
      const [seconds, micros] = await redis.time();
      const after = clock.monotonic();
      if (after - before >= shortest) continue;
      shortest = after - before;
      offset = Number(seconds) * 1000 + Number(micros) / 1000 - (before + after) / 2;
    }
  }

  await sync();
  return { now: () => Math.round(clock.monotonic() + offset), sync };
}
