import { digestOf } from '../order/digest.ts';
import type { Item } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { encodeCompact, UNSHOWN } from './entry.ts';

/** An order that the API has; without items where its list leaves them out. */
export type Existing = { purchaseOrderNumber: string; items?: Item[] };

/**
 * Builds the step that takes orders of the API's list into the ledger as settled, as if they had been there before us.
 * What the ledger knows already stays. Gives how many were new to it.
 */
export function openAdoption({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./adopt.lua', import.meta.url));

  async function adoptOne({ purchaseOrderNumber: number, items }: Existing, at: number): Promise<number> {
    const digest = items ? digestOf({ orderState: 'NEW', items }) : UNSHOWN;
    const compact = encodeCompact({ digest, attempts: 0, at, batchNo: 0 });
    return Number(await runScript(redis, script, [keys.open(number), keys.settled(number)], [number, compact]));
  }

  return async (orders: readonly Existing[], at: number): Promise<number> => {
    const added = await Promise.all(orders.map((order) => adoptOne(order, at)));
    return added.reduce((sum, one) => sum + one, 0);
  };
}
