import type { Closing } from '../../order/dead-letter.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { changeOf } from './batch-control.ts';

/** What follows a batch that is done: its report is written again when dead letters are closed, and expires. */
export function createAftermath(redis: Redis, keys: Keys) {
  /** Settled batches whose dead letters were closed since their report was written. */
  const toRefresh = (): Promise<string[]> => redis.smembers(keys.refresh);

  /** How dead letters of a batch were closed. */
  async function closings(batch: string): Promise<Closing[]> {
    const texts = await redis.hvals(keys.closed(batch));
    return texts.map((text) => JSON.parse(text) as Closing);
  }

  /** The report shows so many closings; one that came meanwhile asks again. `later`: reports that depend on it. */
  async function refreshed(batch: string, shown: number, later: readonly string[]): Promise<void> {
    if (later.length > 0) await redis.sadd(keys.refresh, ...later);
    await redis.srem(keys.refresh, batch);
    if ((await redis.hlen(keys.closed(batch))) > shown) await redis.sadd(keys.refresh, batch);
    else await redis.xadd(keys.changes, ...changeOf(batch));
  }

  /** The older batches whose dead letters need a person again in this one. */
  const origins = (batch: string): Promise<string[]> => redis.smembers(keys.cameFrom(batch));

  /** Forgets a batch that is done and whose report expired. What it sent stays in the ledger. */
  async function forget(batch: string): Promise<void> {
    await redis
      .multi()
      .del(keys.batch(batch), keys.counted(batch), keys.results(batch), keys.closed(batch))
      .del(keys.corrected(batch), keys.cameFrom(batch))
      .zrem(keys.batches, batch)
      .hdel(keys.unreadable, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  return { toRefresh, closings, refreshed, origins, forget };
}
