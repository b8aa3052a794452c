import { PoSyncError } from '../core/errors.ts';
import type { Place } from '../order/record.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { cancelledResult, type Entry, type StoredResult } from './entry.ts';
import { type LedgerIdentity, ROLLED_BACK, runCounting } from './identity.ts';
import type { Follower } from './state-machine/step.ts';

/** A duplicate of an order in progress. `repeats` is its result if an earlier order of the same file has the number. */
export type Following = { entry: Entry; follower: Follower; repeats: StoredResult };

/** Numbers looked at in one step. */
const PAGE = 500;

/**
 * Duplicates of orders in progress. They are counted when the order that they repeat has its outcome; when it is
 * canceled instead, the first of them takes its place. So no report names a duplicate of an order that nobody sent.
 */
export function createFollowers({
  redis,
  keys,
  identity,
}: {
  redis: Redis;
  keys: Keys;
  identity: LedgerIdentity;
}) {
  const followScript = readScript(new URL('./follow.lua', import.meta.url));

  /**
   * Lets duplicates wait; for each, false when the order that it repeats was changed meanwhile. Repeatable. Throws
   * PoSyncError `ledger-rolled-back` when Redis forgot their batch since its reader began: the file is to be read again.
   */
  async function follow(duplicates: readonly Following[]): Promise<boolean[]> {
    if (duplicates.length === 0) return [];
    const args = duplicates.flatMap(({ entry, follower, repeats }) => [
      keys.keyOf(entry.order.purchaseOrderNumber),
      entry.version,
      markOf(follower),
      follower.batch,
      follower.ordinal,
      entry.batchNo === follower.batchNo ? '1' : '0',
      JSON.stringify(repeats),
    ]);
    const counting = { script: followScript, used: [keys.followers], head: [keys.prefix] };
    const done = await runCounting({ redis, keys, identity }, counting, args);
    if (done.includes(-1))
      throw new PoSyncError(ROLLED_BACK, 'Redis lost part of the ledger while a file was read.');
    return done.map((one) => one === 1);
  }

  return { follow, ...createEnds(redis, keys), ...createViews(redis, keys) };
}

/** How duplicates end, and which of them takes the place of an order that is canceled. */
function createEnds(redis: Redis, keys: Keys) {
  const unfollow = createUnfollow(redis, keys);

  /** Counts the duplicates of a canceled batch as canceled; returns how many. */
  async function cancelOf(batch: string, batchNo: number, result: StoredResult): Promise<number> {
    let cancelled = 0;
    let cursor = '0';
    do {
      const [next, flat] = await redis.hscan(keys.followers, cursor, 'COUNT', PAGE);
      cursor = next;
      // Fields and values alternate.
      const numbers = flat.filter((_, i) => i % 2 === 0 && isFollowed(flat[i + 1] ?? '', batchNo));
      if (numbers.length > 0) cancelled += await unfollow({ batch, batchNo }, result, numbers);
    } while (cursor !== '0');
    return cancelled;
  }

  /**
   * The duplicates that wait for an order, as stored, and the first of them. Those of a canceled batch end here, where the
   * cancellation was interrupted: one that its reader counted as canceled would be sent like one that a person sends again.
   */
  async function waitingFor(
    number: string,
    at: number,
  ): Promise<{ marks: string; first: Follower | undefined }> {
    for (;;) {
      const marks = (await redis.hget(keys.followers, keys.keyOf(number))) ?? '';
      const first = marks === '' ? undefined : await followerOf(marks.split('\t')[0] ?? '');
      const isOver = first && (await redis.hexists(keys.batch(first.batch), 'cancelled')) === 1;
      if (!isOver) return { marks, first };
      await unfollow(first, cancelledResult(at), [keys.keyOf(number)]);
    }
  }

  async function followerOf(mark: string): Promise<Follower | undefined> {
    const [, no = '', ordinal = '', place = ''] = /^(\d+)\/(\d+)\/(.*)$/.exec(mark) ?? [];
    const batch = await redis.hget(keys.batchNames, no);
    if (batch === null) return undefined;
    return {
      batch,
      batchNo: Number(no),
      ordinal: Number(ordinal),
      place: JSON.parse(place) as Place,
    };
  }

  return { cancelOf, waitingFor };
}

/** Counts duplicates of a canceled batch as canceled: of these numbers. Returns how many were not counted before. */
function createUnfollow(redis: Redis, keys: Keys) {
  const script = readScript(new URL('./unfollow.lua', import.meta.url));
  return async (
    of: Pick<Follower, 'batch' | 'batchNo'>,
    result: StoredResult,
    numbers: readonly string[],
  ) => {
    const used = [keys.followers, keys.waiting, keys.finished, keys.identity];
    const args = [keys.prefix, result.at, of.batch, of.batchNo, JSON.stringify(result), ...numbers];
    return Number(await runScript(redis, script, used, args));
  };
}

type Followers = {
  orders: number;
  ofBatchNo: Map<number, number>;
  oldest?: { order: string; batch: string };
};

/** What `status` and `explain` show of duplicates that wait. */
function createViews(redis: Redis, keys: Keys) {
  /** The batches whose orders wait for the order with this number, in the order in which they came. */
  async function batchesWaitingFor(number: string): Promise<string[]> {
    const marks = (await redis.hget(keys.followers, keys.keyOf(number))) ?? '';
    if (marks === '') return [];
    const names = await redis.hmget(
      keys.batchNames,
      ...marks.split('\t').map((mark) => String(Number.parseInt(mark, 10))),
    );
    return names.filter((name) => name !== null);
  }

  /** How many orders wait for another one, in all and of each batch, and the first. Looks at `most` numbers. */
  async function count(most: number): Promise<Followers> {
    const ofBatchNo = new Map<number, number>();
    let [orders, looked, first] = [0, 0, { no: Number.POSITIVE_INFINITY, order: '' }];
    let cursor = '0';
    do {
      const [next, flat] = await redis.hscan(keys.followers, cursor, 'COUNT', PAGE);
      cursor = next;
      looked += flat.length / 2;
      for (let i = 0; i < flat.length; i += 2) {
        const marks = (flat[i + 1] ?? '').split('\t');
        orders += marks.length;
        const numbers = marks.map((mark) => Number.parseInt(mark, 10));
        for (const one of numbers) ofBatchNo.set(one, (ofBatchNo.get(one) ?? 0) + 1);
        const no = Math.min(...numbers);
        if (no < first.no) first = { no, order: flat[i] ?? '' };
      }
    } while (cursor !== '0' && looked < most);
    const batch = orders === 0 ? null : await redis.hget(keys.batchNames, String(first.no));
    return {
      orders,
      ofBatchNo,
      ...(batch === null ? {} : { oldest: { order: first.order, batch } }),
    };
  }

  return { batchesWaitingFor, count };
}

/** JSON contains neither the tab that separates marks nor a line feed. */
function markOf({ batchNo, ordinal, place }: Follower): string {
  return `${batchNo}/${ordinal}/${JSON.stringify(place)}`;
}

function isFollowed(marks: string, batchNo: number): boolean {
  return marks.split('\t').some((mark) => mark.startsWith(`${batchNo}/`));
}
