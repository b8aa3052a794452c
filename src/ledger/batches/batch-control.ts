import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';

/** What made the file of a batch unreadable. */
export type BatchError = { code: string; message: string; remedy?: string; line?: number; column?: number };

/** Control of batches: held because of their answers, released or cancelled by a person. */
export function createBatchControl({ redis, keys }: { redis: Redis; keys: Keys }) {
  /**
   * Holds a batch: none of its orders is sent until it is released. False when it was held already, or is done: orders
   * of a batch that is done are sent only because a person asks for it, and no list would show the hold.
   */
  async function hold(batch: string, reason: string, since: number): Promise<boolean> {
    if ((await redis.hget(keys.batch(batch), 'state')) === 'done') return false;
    const fresh = await redis.hsetnx(keys.batch(batch), 'held', JSON.stringify({ reason, since }));
    await redis.sadd(keys.held, batch);
    return fresh === 1;
  }

  /** Releases a held batch; false when it was not held. Its orders are sent when the sweeper finds them, at the latest. */
  async function release(batch: string): Promise<boolean> {
    await redis.srem(keys.held, batch);
    return (await redis.hdel(keys.batch(batch), 'held')) === 1;
  }

  function held(): Promise<string[]> {
    return redis.smembers(keys.held);
  }

  /** No further order of the batch is admitted to be sent. */
  async function cancel(batch: string, at: number): Promise<void> {
    await redis.hset(keys.batch(batch), 'cancelled', String(at));
  }

  async function isCancelled(batch: string): Promise<boolean> {
    return (await redis.hexists(keys.batch(batch), 'cancelled')) === 1;
  }

  /** Records that the file can no longer be read, although some of its orders were admitted. */
  async function becameUnreadable(batch: string, error: BatchError): Promise<void> {
    await redis.hset(keys.batch(batch), { unreadable: JSON.stringify(error) });
  }

  return { hold, release, held, cancel, isCancelled, becameUnreadable };
}
