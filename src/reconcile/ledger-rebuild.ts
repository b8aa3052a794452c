import type { ListEnd, ListedOrder } from '../api/list.ts';
import type { Clock } from '../core/clock.ts';
import { ledgerRebuilt, rebuildImpossible } from '../events/delivery.ts';
import { type Existing, existingOf } from '../ledger/adopt.ts';
import { type Entry, UNSHOWN } from '../ledger/entry.ts';
import { ROLLED_BACK } from '../ledger/identity.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OperatorAction } from '../ledger/operator-action.ts';
import { next, type Policy } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { takeLease } from '../redis/lease.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { readScript, runScript } from '../redis/script.ts';

type TakeOverDeps = {
  ledger: Ledger;
  adopt(orders: readonly Existing[], at: number): Promise<boolean[]>;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: RedisTime;
  owner: string;
  policy: Policy;
  log: Log;
  /** Lets delivery see at once that the hold changed. */
  refresh(): Promise<void>;
  list(onOrder: (order: ListedOrder) => void): Promise<ListEnd>;
};

/** `pending`: not yet, or not this time. `impossible`: this API gives us no list. */
export type RebuildResult = 'done' | 'pending' | 'impossible';

export type LedgerRebuild = ReturnType<typeof createLedgerRebuild>;

const LOCK = 15_000;
const PAGE = 500;
const QUICK_TRIES = 3;
const QUICK_PAUSE = 300;

/**
 * Takes what the API already has into a ledger that knows too little: a new one before its first order, and one that
 * was rolled back before its next. One daemon does it for all; what it was for is kept in Redis until it is done.
 */
export function createLedgerRebuild(deps: TakeOverDeps) {
  const { ledger, redis, keys, clock, time, policy, log } = deps;
  const script = readScript(new URL('./ledger-rebuild.lua', import.meta.url));

  /** At start: gives a new ledger a few quick chances; where the list does not come, it is read later, beside the work. */
  async function first(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < QUICK_TRIES && !signal.aborted; tries += 1) {
      if ((await tick()) !== 'pending' || (await redis.hget(keys.rebuild, 'why')) !== 'new') return;
      await clock.sleep(QUICK_PAUSE, signal);
    }
  }

  /** Does it when its time has come. */
  async function tick(): Promise<RebuildResult> {
    const { why, notBefore, epoch = '' } = await redis.hgetall(keys.rebuild);
    if (why === undefined) return 'done';
    if (time.now() < Number(notBefore)) return 'pending';
    const lock = await takeLease(redis, keys.verificationLock, deps.owner, LOCK);
    if (lock === undefined) return 'pending';
    try {
      return await run(why, epoch);
    } finally {
      await lock.release();
    }
  }

  async function run(why: string, epoch: string): Promise<RebuildResult> {
    const listed: Existing[] = [];
    const end = await deps.list((order) => listed.push(existingOf(order)));
    if (end.kind === 'complete') {
      const added = await takeIn(listed);
      ledgerRebuilt(log, { orders: listed.length, added });
      return (await finish(epoch)) ? 'done' : 'pending';
    }
    if (end.kind !== 'unavailable') {
      await later(epoch, '');
      return 'pending';
    }
    rebuildImpossible(log, { reason: end.said.message });
    // A new ledger has nothing to lose; one that was rolled back waits for a person.
    if (why === 'new') await finish(epoch);
    else {
      const reason = `Redis lost part of the ledger and the list cannot be had (${end.said.message}); run reconcile`;
      await later(epoch, reason);
    }
    return 'impossible';
  }

  /** What the API has is known from now on, whatever became of it here. Gives how many were new. */
  async function takeIn(listed: readonly Existing[], operatorAction?: OperatorAction): Promise<number> {
    let added = 0;
    for (let i = 0; i < listed.length; i += PAGE) {
      const page = listed.slice(i, i + PAGE);
      const isNew = await deps.adopt(page, time.now());
      const old = page.filter((_, n) => !isNew[n]);
      added += page.length - old.length;
      const known = await ledger.lookup(old.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
      for (const [n, one] of known.entries()) {
        if (one.kind === 'open') await prove(one.entry, old[n]?.digest ?? UNSHOWN, operatorAction);
      }
    }
    return added;
  }

  /** The list is read once: what it proves is not dropped because the order moved on meanwhile. */
  async function prove(entry: Entry, digest: string, operatorAction?: OperatorAction): Promise<void> {
    let open: Entry | undefined = entry;
    while (open) {
      const same = digest === UNSHOWN || digest === open.digest;
      const step = next(open, { kind: 'found', at: time.now(), same }, policy);
      if (step.kind === 'ignore' || (await ledger.take(open, step, operatorAction))) return;
      const [now] = await ledger.lookup([open.order.purchaseOrderNumber]);
      open = now?.kind === 'open' ? now.entry : undefined;
    }
  }

  /** Why it is still to be done, for which life of the ledger, and from when; undefined when it was done. */
  async function pending(): Promise<{ why: string; epoch: string; notBefore: number } | undefined> {
    const { why, epoch = '', notBefore = '0' } = await redis.hgetall(keys.rebuild);
    return why === undefined ? undefined : { why, epoch, notBefore: Number(notBefore) };
  }

  /**
   * Ends the wait and its hold, also where a person decided to go on without it. False when the ledger began another
   * life meanwhile, which waits for a list of its own.
   */
  async function finish(epoch: string): Promise<boolean> {
    const ended = await change('end', epoch);
    await deps.refresh();
    return ended === 1;
  }

  /** Not this time; `reason` replaces what the hold says. */
  async function later(epoch: string, reason: string): Promise<void> {
    await change('later', epoch, QUICK_TRIES, QUICK_PAUSE, policy.settle, reason);
    await deps.refresh();
  }

  function change(verb: 'end' | 'later', epoch: string, ...rest: (string | number)[]): Promise<unknown> {
    const args = [verb, epoch, `hold:${ROLLED_BACK}`, time.now(), ...rest];
    return runScript(redis, script, [keys.rebuild, keys.breaker, keys.pauses], args);
  }

  return { first, tick, takeIn, pending, finish };
}
