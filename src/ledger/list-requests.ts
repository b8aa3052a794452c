import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

export type ListRequests = ReturnType<typeof createListRequests>;

/**
 * The reads of the API's list that files wait for (`delivery.readList`). They are numbered: the daemon that takes a file
 * asks for the next one, and a daemon that delivers, perhaps another one, reads the list once for all who asked before.
 */
export function createListRequests({ redis, keys }: { redis: Redis; keys: Keys }) {
  return {
    /** Asks for a read that begins from now on; returns its number. */
    ask: (): Promise<number> => redis.hincrby(keys.listRequests, 'asked', 1),

    /** The last number that was asked for, and the last one that was served. */
    async state(): Promise<{ asked: number; served: number }> {
      const [asked, served] = await redis.hmget(keys.listRequests, 'asked', 'served');
      return { asked: Number(asked ?? 0), served: Number(served ?? 0) };
    },

    /** A read that began after this number was asked for is in the ledger, or the API offers no list. */
    async serve(upTo: number): Promise<void> {
      await redis.hset(keys.listRequests, { served: upTo });
    },
  };
}
