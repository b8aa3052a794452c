import { PoSyncError } from '../core/errors.ts';
import { orders } from '../core/format.ts';
import { digestOf } from '../order/digest.ts';
import type { Item } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import { BUCKETS, type Keys } from '../redis/keys.ts';
import { readScript, repliesOf, runScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Known } from './entry.ts';
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
  return row.items === undefined || row.items.length > MOST_ITEMS ? { digest } : { digest, items: row.items };
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

  async function adoptOne({ purchaseOrderNumber: number, digest }: Existing, at: number): Promise<boolean> {
    const compact = encodeCompact({ digest, attempts: 0, at, batchNo: 0 });
    return (
      (await runScript(redis, script, [keys.open(number), keys.settled(number), keys.identity], [number, compact])) ===
      1
    );
  }

  return async (orders: readonly Existing[], at: number): Promise<boolean[]> => {
    const respelled = orders.flatMap(({ purchaseOrderNumber: number }) => {
      const spelling = spellingOf(number);
      return spelling === number ? [] : [spelling, number];
    });
    if (respelled.length > 0) await redis.hset(keys.spellings, ...respelled);
    return Promise.all(orders.map((order) => adoptOne(order, at)));
  };
}

/** A number without what APIs may rewrite: case, spaces, leading zeros, and the composition of characters. */
export function spellingOf(number: string): string {
  return number
    .normalize('NFC')
    .replace(/\s+/g, '')
    .replace(/^0+(?=.)/, '')
    .toUpperCase();
}

/** Numbers of the ledger in other spellings, which `keys.spellings` has by the plain one. */
export function createSpellings({ redis, keys, lookup }: { redis: Redis; keys: Keys; lookup: Lookup }) {
  /** Keeps numbers, so that other spellings of them are found. A number that nothing can be left out of needs no field. */
  async function spelled(numbers: readonly string[]): Promise<void> {
    const respelled = numbers.filter((number) => spellingOf(number) !== number);
    if (respelled.length === 0) return;
    const step = respelled.reduce(
      (all, number) => all.hsetnx(keys.spellings, spellingOf(number), number),
      redis.multi(),
    );
    await repliesOf(step);
  }

  /** For each number, another spelling of it that the ledger has, and what it knows of that. */
  async function otherSpellings(numbers: readonly string[]): Promise<(OtherSpelling | undefined)[]> {
    if (numbers.length === 0) return [];
    const plain = numbers.map(spellingOf);
    const stored = await redis.hmget(keys.spellings, ...plain);
    const candidates = numbers.flatMap((number, i) =>
      [...new Set([stored[i], plain[i]])].flatMap((other) => (other && other !== number ? [{ number, other }] : [])),
    );
    const known = await lookup(candidates.map(({ other }) => other));
    const found = new Map<string, OtherSpelling>();
    for (const [i, { number, other }] of candidates.entries()) {
      const one = known[i];
      if (one && one.kind !== 'nothing' && !found.has(number)) found.set(number, { other, known: one });
    }
    return numbers.map((number) => found.get(number));
  }

  /**
   * The numbers that the ledger does not have, but that the list showed in another spelling only: an API that rewrites
   * numbers may have these orders.
   */
  async function respelled(numbers: readonly string[]): Promise<(string | undefined)[]> {
    const others = await otherSpellings(numbers);
    return others.map((one) =>
      one?.known.kind === 'accepted' && one.known.compact.batchNo === 0 ? one.other : undefined,
    );
  }

  return { spelled, otherSpellings, respelled };
}

/** Other spellings of these numbers are not compared with them any more. */
export async function forgetSpellings(numbers: readonly string[], { redis, keys }: Pick<Store, 'redis' | 'keys'>) {
  const respelled = numbers.filter((number) => spellingOf(number) !== number);
  if (respelled.length === 0) return;
  const kept = await redis.hmget(keys.spellings, ...respelled.map(spellingOf));
  const own = respelled.filter((number, i) => kept[i] === number).map(spellingOf);
  if (own.length > 0) await redis.hdel(keys.spellings, ...own);
}

/** Another spelling of a number that the ledger has, and what it knows of that. */
export type OtherSpelling = { other: string; known: Exclude<Known, { kind: 'nothing' }> };

type Lookup = (numbers: readonly string[]) => Promise<Known[]>;

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

export const TWICE_REMEDY = "Run po-sync reconcile to see them, and ask the API's owner to remove all but one of each.";

/** Buckets that Redis counts in one step: about a millisecond in which nothing else is served. */
const COUNTED_AT_ONCE = 2_048;
/** Milliseconds that a count serves. */
const COUNT_FRESH = 10_000;

/**
 * Counts the accepted orders of the ledger: those that the API has as far as the ledger knows, also those that others created.
 * It takes the same time for any number of orders, and at most once in ten seconds. Callers share a count that is running.
 */
export function createAcceptedCount({
  redis,
  keys,
  time,
}: Pick<Store, 'redis' | 'keys' | 'time'>): () => Promise<number> {
  const script = readScript(new URL('./count-accepted.lua', import.meta.url));
  return countedSeldom(time, async () => {
    let result = 0;
    for (let from = 0; from < BUCKETS; from += COUNTED_AT_ONCE) {
      result += Number(
        await runScript(redis, script, [keys.identity], [keys.prefix, from, from + COUNTED_AT_ONCE - 1]),
      );
    }
    return result;
  });
}

/** A count that serves ten seconds. Callers share one that is running. */
export function countedSeldom(time: Pick<Store['time'], 'now'>, count: () => Promise<number>): () => Promise<number> {
  let last: { at: number; result: number } | undefined;
  let running: Promise<number> | undefined;

  async function countNow(): Promise<number> {
    const result = await count();
    last = { at: time.now(), result };
    return result;
  }

  return async () => {
    if (last !== undefined && Math.abs(time.now() - last.at) < COUNT_FRESH) return last.result;
    running ??= countNow().finally(() => {
      running = undefined;
    });
    return running;
  };
}
