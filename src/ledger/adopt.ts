import { PoSyncError } from '../core/errors.ts';
import { orders } from '../core/format.ts';
import { digestOf } from '../order/digest.ts';
import type { Item } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { encodeCompact, type Listed, UNSHOWN } from './entry.ts';

/** An order that the API has. Its digest is UNSHOWN where the list leaves out the items. Short: there may be millions. */
export type Existing = { purchaseOrderNumber: string; digest: string };

/** What is kept of a listed order. */
export function existingOf({ purchaseOrderNumber, items }: Row): Existing {
  return { purchaseOrderNumber, digest: items ? digestOf({ items }) : UNSHOWN };
}

/** Bytes of memory, as estimated, that orders of one list may take: more than a million of them. */
const MOST_MEMORY = 256 * 1024 * 1024;
const EACH_ORDER = 160;
const EACH_ITEM = 100;

/**
 * Counts what is kept of one list. The function takes each order that is kept, and throws PoSyncError `list-too-large`
 * before a list without an end fills the memory.
 */
export function createListBudget(most = MOST_MEMORY): (kept: Row) => void {
  let bytes = 0;
  let orders = 0;
  return ({ purchaseOrderNumber, items = [] }) => {
    orders += 1;
    bytes += EACH_ORDER + 2 * purchaseOrderNumber.length;
    for (const { articleCode } of items) bytes += EACH_ITEM + 2 * articleCode.length;
    if (bytes <= most) return;
    throw new PoSyncError(
      'list-too-large',
      `the list has more than ${orders - 1} orders, which is more than fits in memory`,
    );
  };
}

/** Collects what is kept of a list: `take` throws PoSyncError `list-too-large`. */
export function collectExisting(): { listed: Existing[]; take(row: Row): void } {
  const listed: Existing[] = [];
  const count = createListBudget();
  return {
    listed,
    take(row) {
      const kept = existingOf(row);
      count(kept);
      listed.push(kept);
    },
  };
}

/** The content of a listed order, for an order of ours with the same number. */
export function listedOf(row: Row): Listed {
  const { digest } = existingOf(row);
  return row.items === undefined || row.items.length > MOST_ITEMS
    ? { digest }
    : { digest, items: row.items };
}

type Row = { purchaseOrderNumber: string; items?: Item[] };

/** Longer content of a conflict is known by its digest only. */
const MOST_ITEMS = 1_000;

/**
 * Builds the step that enters orders of the API's list into the ledger as settled, of no batch.
 * Known entries stay. Returns for each order whether it was new.
 */
export function createAdoption({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./adopt.lua', import.meta.url));

  async function adoptOne(
    { purchaseOrderNumber: number, digest }: Existing,
    at: number,
  ): Promise<boolean> {
    const key = keys.keyOf(number);
    const compact = encodeCompact({ number, digest, attempts: 0, at, batchNo: 0 }, key);
    return (
      (await runScript(
        redis,
        script,
        [keys.open(number), keys.settled(number), keys.identity],
        [key, compact],
      )) === 1
    );
  }

  return (orders: readonly Existing[], at: number): Promise<boolean[]> =>
    Promise.all(orders.map((order) => adoptOne(order, at)));
}

/** How often a complete list shows each number, for those that it shows more than once. */
export function timesListed(rows: readonly { purchaseOrderNumber: string }[]): Map<string, number> {
  const seen = new Set<string>();
  const times = new Map<string, number>();
  for (const { purchaseOrderNumber: number } of rows) {
    if (seen.has(number)) times.set(number, (times.get(number) ?? 1) + 1);
    else seen.add(number);
  }
  return times;
}

/** Remembers which orders the API's last complete list, and lists for orders in doubt since, showed more than once: created twice. */
export function createListedTwice({ redis, keys }: { redis: Redis; keys: Keys }) {
  return {
    async replace(times: ReadonlyMap<string, number>): Promise<void> {
      const all = redis.multi().del(keys.listedTwice);
      await (times.size === 0 ? all : all.hset(keys.listedTwice, Object.fromEntries(times))).exec();
    },
    /** For each number, how often the list showed it, where more than once. */
    async timesOf(numbers: readonly string[]): Promise<(number | undefined)[]> {
      if (numbers.length === 0) return [];
      const found = await redis.hmget(keys.listedTwice, ...numbers);
      return found.map((times) => (times === null ? undefined : Number(times)));
    },
    /** A list that was read for orders in doubt showed the order so often. */
    add: async (number: string, times: number): Promise<void> => {
      await redis.hset(keys.listedTwice, number, times);
    },
    count: (): Promise<number> => redis.hlen(keys.listedTwice),
  };
}

/** `1 order was created twice: the API's list shows it more than once`. */
export function twiceText(count: number): string {
  const [were, them] = count === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${orders(count)} ${were} created twice: the API's list shows ${them} more than once`;
}

export const TWICE_REMEDY =
  "Run po-sync reconcile to see them, and ask the API's owner to remove all but one of each.";
