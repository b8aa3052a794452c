import type { Closing, Closings } from '../../order/dead-letter.ts';
import { idOf } from '../../order/letter-id.ts';
import { OUTCOMES, type OutcomeCounts } from '../../order/outcome.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { type BatchError, changeOf } from './batch-control.ts';

/** When a settled file is checked for changes, in milliseconds after it was put away: programs that pause append soon. */
const CHECK_AFTER = 60_000;

/** Checks of settled files in one round. */
const MOST_CHECKS = 200;

/** An order that corrects a dead letter. `isOver`: its batch is done, or unknown. */
export type Taker = { batch: string; number: string; isOver: boolean };

/** What follows a batch that is done: dead letters are closed, its file is checked, and it expires. */
export function createAftermath(redis: Redis, keys: Keys) {
  /** How dead letters of a batch were closed. */
  async function closings(batch: string): Promise<Closings> {
    const closed = Object.entries(await redis.hgetall(keys.closed(batch)));
    return new Map(closed.map(([at, text]) => [idOf(batch, at), JSON.parse(text) as Closing]));
  }

  /** The orders that correct dead letters of a batch, by the id of those. */
  async function taken(batch: string): Promise<ReadonlyMap<string, Taker>> {
    const all = Object.entries(await redis.hgetall(keys.taken(batch)));
    const takers = all.map(async ([at, text]): Promise<[string, Taker]> => {
      const space = text.indexOf(' ');
      const by = { batch: text.slice(0, space), number: text.slice(space + 1) };
      const state = await redis.hget(keys.batch(by.batch), 'state');
      return [idOf(batch, at), { ...by, isOver: state === null || state === 'done' }];
    });
    return new Map(await Promise.all(takers));
  }

  /** A later file could be read, so that an unreadable one needs nobody any more. */
  async function replaced(batch: string, by: string): Promise<void> {
    await redis
      .multi()
      .hset(keys.batch(batch), { replacedBy: by })
      .hdel(keys.unreadable, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  /** Forgets a batch that is done and whose report expired. What it sent stays in the ledger. */
  async function forget(batch: string): Promise<void> {
    await redis
      .multi()
      .del(keys.batch(batch), keys.counted(batch), keys.results(batch), keys.closed(batch))
      .del(keys.taken(batch), keys.discards(batch))
      .zrem(keys.batches, batch)
      .hdel(keys.unreadable, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
  }

  return {
    closings,
    taken,
    replaced,
    forget,
    ...createFileChecks(redis, keys),
  };
}

/** A settled file is checked for changes once. */
function createFileChecks(redis: Redis, keys: Keys) {
  /** The report is written and the file put away. `settledAt`: when, where the file is to be checked for changes. */
  async function done(batch: string, settledAt?: number): Promise<void> {
    const step = redis
      .multi()
      .hset(keys.batch(batch), { state: 'done' })
      // Its last answers may have held it, although no order was left to wait.
      .hdel(keys.batch(batch), 'held', 'unsettled')
      .srem(keys.held, batch)
      .del(keys.counted(batch))
      .srem(keys.finished, batch)
      .srem(keys.active, batch)
      .xadd(keys.changes, ...changeOf(batch));
    if (settledAt !== undefined) step.zadd(keys.fileChecks, settledAt + CHECK_AFTER, batch);
    await step.exec();
  }

  /** It ended before Redis lost that; its report has the counts. */
  async function ended(
    batch: string,
    { orders, ...counts }: OutcomeCounts & { orders: number },
  ): Promise<void> {
    const outcomes = OUTCOMES.flatMap((outcome) => [`n:${outcome}`, counts[outcome]]);
    await redis.hset(keys.batch(batch), 'total', orders, 'counted', orders, ...outcomes);
    await done(batch);
  }

  /** Batches whose settled file is to be checked, those that waited longest first. */
  async function dueFileChecks(now: number): Promise<string[]> {
    return redis.zrangebyscore(keys.fileChecks, '-inf', now, 'LIMIT', 0, MOST_CHECKS);
  }

  /** A check is done. `again`: when it is repeated because it could not be done. */
  async function fileChecked(batch: string, again?: number): Promise<void> {
    if (again === undefined) await redis.zrem(keys.fileChecks, batch);
    else await redis.zadd(keys.fileChecks, 'XX', again, batch);
  }

  /**
   * The settled file of a batch is not what was read. Call it with the lease of the
   * batch. False when that was known already. `file`: as in `keys.unreadable`.
   */
  async function settledFileChanged(
    batch: string,
    file: string,
    error: BatchError,
  ): Promise<boolean> {
    if ((await redis.hexists(keys.batch(batch), 'unreadable')) === 1) return false;
    await redis
      .multi()
      .hset(keys.batch(batch), { unreadable: JSON.stringify(error) })
      .hset(keys.unreadable, batch, file)
      .zrem(keys.fileChecks, batch)
      .xadd(keys.changes, ...changeOf(batch))
      .exec();
    return true;
  }

  return { done, ended, dueFileChecks, fileChecked, settledFileChanged };
}
