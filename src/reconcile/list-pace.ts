import type { ListEnd } from '../api/list.ts';
import { createNews, growingWait } from '../core/backoff/backoff.ts';
import { answerOf } from '../ledger/pause-cause.ts';
import type { ListFailure } from '../ledger/wait-cause.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';

/** The pause after a list for orders in doubt, as a multiple of its duration; at least a share of a settle, at most so many settles. */
const PAUSE_PER_DURATION = 10;
const SHORTEST_PAUSE = 0.1;
const LONGEST_PAUSE = 4;
/** Milliseconds. The shortest pause between two lists, however short a settle is: at most four reads a second. */
const LEAST_PAUSE = 250;

/** Reads with the same end are reported once, then with growing gaps. Milliseconds. */
const NEWS = { initial: 60_000, max: 3_600_000 };

/** Builds the test whether a read with this end is worth a line in the log. */
export function createListNews(now: () => number): (end: string) => boolean {
  return createNews(now, NEWS);
}

type Place = { redis: Redis; keys: Keys };

/**
 * When the next list may be read for orders in doubt, and after a failure any, ledger time in milliseconds (0: now); whether the
 * last ones failed; and whether orders that are to be admitted wait for one.
 */
export async function listState({ redis, keys }: Place) {
  const [notBefore, wanted, failure] = await redis.hmget(
    keys.verification,
    'notBefore',
    'wanted',
    'failure',
  );
  return {
    nextAt: Number(notBefore ?? 0),
    isWanted: wanted === '1',
    ...(failure ? { failure: JSON.parse(failure) as ListFailure } : {}),
  };
}

type Read = { end: ListEnd; durationMs: number; isAlone?: boolean };

/**
 * Sets when the next list may be read. While reads fail, whatever they are for, the pauses grow up to a settle. One that `isAlone`
 * concerned no order in doubt, and postpones nothing.
 */
export async function paceLists(
  { redis, keys, time }: Place & { time: RedisTime },
  settle: number,
  { end, durationMs, isAlone = false }: Read,
): Promise<void> {
  const isFailed = end.kind !== 'complete' && end.kind !== 'unavailable';
  const failed = isFailed ? await redis.hincrby(keys.verification, 'failed', 1) : 0;
  const after = (ms: number) => time.now() + Math.max(LEAST_PAUSE, ms);
  if (isFailed) {
    const notBefore = after(growingWait(failed, { initial: settle * SHORTEST_PAUSE, max: settle }));
    const since = (await listState({ redis, keys })).failure?.since ?? time.now() - durationMs;
    const failure = JSON.stringify({ since, ...answerOf(end.said) } satisfies ListFailure);
    await redis.hset(keys.verification, { notBefore, failure });
    return;
  }
  const pause = Math.min(
    LONGEST_PAUSE * settle,
    Math.max(PAUSE_PER_DURATION * durationMs, settle * SHORTEST_PAUSE),
  );
  const next = isAlone ? {} : { notBefore: after(pause) };
  await redis.hset(keys.verification, { ...next, failure: '', failed: 0 });
}
