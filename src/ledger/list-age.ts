import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** When the read of the API's list began that the ledger has, and when it had all of it. Ledger time in milliseconds. */
type Taken = { from: number; at: number };

/** How old the API's list in the ledger is (`delivery.readList`). Who admits orders asks for a newer one; a daemon that delivers reads it. */
export function createListAge({ redis, keys }: { redis: Redis; keys: Keys }) {
  return {
    /** Asks for a newer list. Repeatable. */
    async ask(): Promise<void> {
      await redis.hset(keys.verification, { wanted: '1' });
    },

    /** A list is in the ledger, or there is none by configuration: nobody waits for it. */
    async took({ from, at }: Taken): Promise<void> {
      await redis.hset(keys.verification, { taken: `${from} ${at}`, wanted: '' });
    },

    async taken(): Promise<Taken> {
      const text = (await redis.hget(keys.verification, 'taken')) ?? '';
      const [from = 0, at = 0] = text.split(' ').map(Number);
      return { from, at };
    },
  };
}
