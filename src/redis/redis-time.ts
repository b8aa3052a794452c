import type { Clock } from '../core/clock.ts';
import type { Redis } from './connect.ts';

/** The clock of Redis, shared by all daemons. Clocks of hosts are never compared. */
export type RedisTime = {
  /** Milliseconds since 1970 by the clock of Redis, estimated since the last `sync`. */
  now(): number;
  /** Reads the clock again. Call it regularly and after a reconnect. */
  sync(): Promise<void>;
};

/** An answer that took longer than this (milliseconds) can be wrong by half of it, so it is read again. */
const TRUSTED = 500;
const TRIES = 5;

/** Reads the time of Redis and continues it with the monotonic clock. */
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
