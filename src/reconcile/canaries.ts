import type { Clock } from '../core/clock.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { Canary } from './evidence.ts';

export type Canaries = ReturnType<typeof createCanaries>;

/** Of each life of the ledger the first accepted orders are kept, and then the newest ones. */
const FIRST = 10;
const MOST = 60;

/** Remembers a few accepted orders, at most one a second, to judge later lists by. */
export function createCanaries({
  redis,
  keys,
  clock,
  time,
}: {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: RedisTime;
}) {
  let remembered = Number.NEGATIVE_INFINITY;

  /** Takes note that the API has this order. */
  async function remember(number: string): Promise<void> {
    if (clock.monotonic() - remembered < 1000) return;
    remembered = clock.monotonic();
    await redis
      .multi()
      .zadd(keys.canaries, 'NX', time.now(), number)
      .zremrangebyrank(keys.canaries, FIRST, -(MOST - FIRST) - 1)
      .exec();
  }

  async function all(): Promise<Canary[]> {
    const flat = await redis.zrange(keys.canaries, 0, '-1', 'WITHSCORES');
    return flat.flatMap((number, i) => (i % 2 === 0 ? [{ number, since: Number(flat[i + 1]) }] : []));
  }

  return { remember, all };
}
