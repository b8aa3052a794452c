import type { Clock } from '../core/clock.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { scored } from '../redis/scored.ts';
import type { RedisTime } from '../redis/time.ts';
import {
  type Absence,
  ageCanaries,
  type Canary,
  type Evidence,
  judgeEvidence,
  type ListSight,
} from './evidence.ts';

export type Canaries = ReturnType<typeof createCanaries>;

type CanaryDeps = { redis: Redis; keys: Keys; clock: Clock; time: RedisTime; settle: number };

/** The first accepted orders are kept, then the newest ones. */
const FIRST = 10;
const MOST = 60;
/** So many a settle, at most one a second: the newest ones reach over more than two settles. */
const EACH_SETTLE = 8;

/** Remembers some accepted orders, and the last one of each burst, to judge later lists. */
export function createCanaries({ redis, keys, clock, time, settle }: CanaryDeps) {
  const spacing = Math.max(1000, settle / EACH_SETTLE);
  let remembered = Number.NEGATIVE_INFINITY;
  let latest: Canary | undefined;

  /** The API has this order, whose attempt began at `since`. */
  async function remember(number: string, since: number): Promise<void> {
    // The list may show an older one after a newer one was accepted, which shows more.
    if (latest === undefined || since >= latest.since) latest = { number, since };
    if (clock.monotonic() - remembered < spacing) return;
    remembered = clock.monotonic();
    // The spacing is that of all daemons together.
    const [newest] = scored(await redis.zrange(keys.canaries, -1, '-1', 'WITHSCORES'));
    if (newest === undefined || time.now() - newest[1] >= spacing / 2) await flush();
  }

  /** The last order that was accepted becomes a canary, too. */
  async function flush(): Promise<void> {
    if (latest === undefined) return;
    const { number, since } = latest;
    latest = undefined;
    remembered = clock.monotonic();
    await redis
      .multi()
      .zadd(keys.canaries, 'NX', since, number)
      .zremrangebyrank(keys.canaries, FIRST, -(MOST - FIRST) - 1)
      .exec();
  }

  /** Remembers the last order of a burst also where no other follows. To be called again and again. */
  async function tick(): Promise<void> {
    if (clock.monotonic() - remembered >= spacing) await flush();
  }

  /** Replaces canaries that the list no longer shows because of their age. One caller at a time. */
  async function age(sight: Parameters<typeof ageCanaries>[0]): Promise<void> {
    const before = JSON.parse((await redis.hget(keys.verification, 'absent')) ?? '{}') as Record<
      string,
      Absence
    >;
    const { absences, replaced } = ageCanaries(sight, before);
    const wasEmpty = Object.keys(before).length === 0;
    if (wasEmpty && Object.keys(absences).length === 0 && replaced.length === 0) return;
    const youngest = replaced.at(-1)?.since;
    await redis.hset(keys.verification, {
      absent: JSON.stringify(absences),
      ...(youngest === undefined ? {} : { agedUntil: youngest }),
    });
    for (const { number } of replaced) await redis.zrem(keys.canaries, number);
  }

  /** What a complete list is worth, which may have replaced canaries. One caller at a time. */
  async function judge(sight: Omit<ListSight, 'agedUntil'>): Promise<Evidence> {
    await age(sight);
    const agedUntil = Number((await redis.hget(keys.verification, 'agedUntil')) ?? 0);
    return judgeEvidence({ ...sight, agedUntil });
  }

  /** Every order that a complete list must show, when it is old enough. */
  async function all(): Promise<Canary[]> {
    const flat = await redis.zrange(keys.canaries, 0, '-1', 'WITHSCORES');
    return scored(flat).map(([number, since]) => ({ number, since }));
  }

  return { remember, flush, tick, all, judge };
}
