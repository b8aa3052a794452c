import type { ListEnd, ListedOrder } from '../api/list.ts';
import type { Clock } from '../clock.ts';
import { ledgerTakenOver, takeOverImpossible } from '../events/delivery.ts';
import type { Existing } from '../ledger/adopt.ts';
import type { Deed } from '../ledger/deed.ts';
import { ROLLED_BACK } from '../ledger/identity.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { next, type Policy } from '../ledger/state.ts';
import type { Log } from '../log.ts';
import { digestOf } from '../order/digest.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { takeLease } from '../redis/lease.ts';
import type { RedisTime } from '../redis/redis-time.ts';

type TakeOverDeps = {
  ledger: Ledger;
  adopt(orders: readonly Existing[], at: number): Promise<number>;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: RedisTime;
  owner: string;
  policy: Policy;
  log: Log;
  /** Lets delivery wait for this, or go on. */
  hold(code: string, reason: string): Promise<void>;
  release(code: string): Promise<unknown>;
  list(onOrder: (order: ListedOrder) => void): Promise<ListEnd>;
};

/** `pending`: not yet, or not this time. `impossible`: this API gives us no list. */
export type TakenOver = 'done' | 'pending' | 'impossible';

export type TakeOver = ReturnType<typeof openTakeOver>;

const LOCK = 15_000;
const PAGE = 500;
const QUICK_TRIES = 3;
const QUICK_PAUSE = 300;

/**
 * Takes what the API already has into a ledger that knows too little: a new one before its first order, and one that
 * was rolled back before its next. One daemon does it for all; what it was for is kept in Redis until it is done.
 */
export function openTakeOver(deps: TakeOverDeps) {
  const { ledger, redis, keys, clock, time, policy, log } = deps;

  /** At start: gives a new ledger a few quick chances; where the list does not come, it is read later, beside the work. */
  async function first(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < QUICK_TRIES && !signal.aborted; tries += 1) {
      if ((await tick()) !== 'pending' || (await redis.hget(keys.takeOver, 'why')) !== 'new') return;
      await clock.sleep(QUICK_PAUSE, signal);
    }
  }

  /** Does it when its time has come. */
  async function tick(): Promise<TakenOver> {
    const { why, notBefore } = await redis.hgetall(keys.takeOver);
    if (why === undefined) return 'done';
    if (time.now() < Number(notBefore)) return 'pending';
    const lock = await takeLease(redis, keys.verificationLock, deps.owner, LOCK);
    if (lock === undefined) return 'pending';
    try {
      return await run(why);
    } finally {
      await lock.release();
    }
  }

  async function run(why: string): Promise<TakenOver> {
    const listed: ListedOrder[] = [];
    const end = await deps.list((order) => listed.push(order));
    if (end.kind === 'complete') {
      const added = await takeIn(listed);
      ledgerTakenOver(log, { orders: listed.length, added });
      await finish();
      return 'done';
    }
    const failed = await redis.hincrby(keys.takeOver, 'failed', 1);
    await redis.hset(keys.takeOver, { notBefore: time.now() + (failed < QUICK_TRIES ? QUICK_PAUSE : policy.settle) });
    if (end.kind !== 'unavailable') return 'pending';
    takeOverImpossible(log, { reason: end.said.message });
    // A new ledger has nothing to lose; one that was rolled back waits for a person.
    if (why === 'new') await finish();
    else
      await deps.hold(
        ROLLED_BACK,
        `Redis lost part of the ledger and the list cannot be had (${end.said.message}); run reconcile`,
      );
    return 'impossible';
  }

  /** What the API has is known from now on, whatever became of it here. Gives how many were new. */
  async function takeIn(listed: readonly ListedOrder[], deed?: Deed): Promise<number> {
    let added = 0;
    for (let i = 0; i < listed.length; i += PAGE) {
      const page = listed.slice(i, i + PAGE);
      added += await deps.adopt(page, time.now());
      const known = await ledger.lookup(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
      for (const [n, one] of known.entries()) {
        if (one.kind !== 'open') continue;
        const items = page[n]?.items;
        const same = items === undefined || digestOf({ orderState: 'NEW', items }) === one.entry.digest;
        await ledger.take(one.entry, next(one.entry, { kind: 'found', at: time.now(), same }, policy), deed);
      }
    }
    return added;
  }

  /** Why it is still to be done, and from when; undefined when it was done. */
  async function pending(): Promise<{ why: string; notBefore: number } | undefined> {
    const { why, notBefore = '0' } = await redis.hgetall(keys.takeOver);
    return why === undefined ? undefined : { why, notBefore: Number(notBefore) };
  }

  /** Ends the wait, also where a person decided to go on without it. */
  async function finish(): Promise<void> {
    await redis.del(keys.takeOver);
    await deps.release(ROLLED_BACK);
  }

  return { first, tick, takeIn, pending, finish };
}
