import { digestOf } from '../order/digest.ts';
import type { Item } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { encodeCompact, UNSHOWN } from './entry.ts';

/** An order that the API has; its digest is UNSHOWN where the list leaves out the items. Short: there may be millions. */
export type Existing = { purchaseOrderNumber: string; digest: string };

/** What is kept of a listed order. */
export function existingOf({ purchaseOrderNumber, items }: { purchaseOrderNumber: string; items?: Item[] }): Existing {
  return { purchaseOrderNumber, digest: items ? digestOf({ items }) : UNSHOWN };
}

/**
 * Builds the step that takes orders of the API's list into the ledger as settled, as if they had been there before us.
 * What the ledger knows already stays. Tells of each whether it was new.
 */
export function createAdoption({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./adopt.lua', import.meta.url));

  async function adoptOne({ purchaseOrderNumber: number, digest }: Existing, at: number): Promise<boolean> {
    const compact = encodeCompact({ digest, attempts: 0, at, batchNo: 0 });
    return (await runScript(redis, script, [keys.open(number), keys.settled(number)], [number, compact])) === 1;
  }

  return (orders: readonly Existing[], at: number): Promise<boolean[]> =>
    Promise.all(orders.map((order) => adoptOne(order, at)));
}
