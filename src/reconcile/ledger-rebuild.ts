import { withStatus } from '../api/classify.ts';
import type { ListEnd } from '../api/list.ts';
import type { Clock } from '../core/clock.ts';
import { withoutStop } from '../core/format.ts';
import { createAdoption, type Existing, timesListed } from '../ledger/adopt.ts';
import { type Entry, type OperatorAction, UNSHOWN } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  answerOf,
  LIST_INCOMPLETE,
  LIST_NOT_OFFERED,
  LIST_UNCONFIRMED,
  LIST_UNSTABLE,
  NEW_LEDGER,
  type OwnCause,
} from '../ledger/pause-cause.ts';
import { next } from '../ledger/state-machine/next.ts';
import type { Policy, Step } from '../ledger/state-machine/step.ts';
import {
  ledgerRebuilt,
  orderCreatedTwice,
  orderDead,
  rebuildImpossible,
} from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../redis/store.ts';
import { withListLease } from './list-lease.ts';
import { expectedOrders, type ListMode, type ListProof } from './list-proof.ts';
import {
  createRebuildRequest,
  type PendingRebuild,
  type RebuildRequest,
} from './rebuild-request.ts';

type RebuildDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  ledger: Ledger;
  clock: Clock;
  owner: string;
  policy: Policy;
  log: Log;
  /** Makes the breaker notice at once that a hold changed. */
  refresh(): Promise<void>;
  proof: Pick<ListProof, 'readFirst' | 'rules' | 'vouched'>;
};

/** `pending`: not yet, or not this time. `impossible`: this API offers no list. */
export type RebuildResult = 'done' | 'pending' | 'impossible';

export type LedgerRebuild = ReturnType<typeof createLedgerRebuild>;

const PAGE = 500;
/** How long a start waits for the list of a new ledger, in milliseconds; then only delivery waits. */
const START_WAITS = 3_000;
const LOOK_AGAIN = 100;

/**
 * Reads what the API already has into a ledger that knows too little: a new one before its first order, and one that was
 * rolled back before its next. One daemon does it for all; the request for it stays in Redis until it is done. `waitsFor`: what a
 * ledger that was rolled back waits for before.
 */
export function createLedgerRebuild(deps: RebuildDeps, waitsFor?: 'reports') {
  const { store, policy, log, proof } = deps;
  const { time } = store;
  const request = createRebuildRequest(store);
  const takeIn = createTakeIn(deps);
  const { mode, isProtected } = proof.rules;

  /** Runs the rebuild when it is due. */
  async function tick(): Promise<RebuildResult> {
    const pending = await request.pending();
    if (pending === undefined) return 'done';
    await time.sync();
    // A wait that another process began may be shorter than it seems.
    if (time.now() < pending.notBefore || time.watched() < pending.wait) return 'pending';
    if (waitsFor === 'reports' && (await lacksReports(store, pending))) return 'pending';
    return (await withListLease(store, deps.owner, () => run(pending))) ?? 'pending';
  }

  async function run({ why, epoch }: PendingRebuild): Promise<RebuildResult> {
    // A new ledger has nothing to lose; one that was rolled back waits for a person.
    if (mode === 'none' && why === 'new')
      return (await finish(epoch, { assumed: mode })) ? 'done' : 'pending';
    const first = await proof.readFirst({ isIntact: why === 'new', epoch });
    const { end, listed, shown, added, gone } = first;
    if (end.kind !== 'complete') return withoutList(why, epoch, end);

    const expected = await expectedOrders(store);
    const obstacle = obstacleTo(shown.size, gone, why, expected);
    if (obstacle !== undefined) {
      await later(epoch, obstacle);
      return 'pending';
    }
    if (expected !== undefined) await proof.vouched(listed);
    ledgerRebuilt(log, { orders: listed.length, added });
    // A list that is empty by mistake shows as many.
    const toProve = expected ? {} : { shown: shown.size };
    return (await finish(epoch, mode === 'prove' ? toProve : { assumed: mode }))
      ? 'done'
      : 'pending';
  }

  /** What a person must say, or did say, about the number of orders. `gone`: so many that it showed before are not there. */
  function obstacleTo(
    shown: number,
    gone: number,
    why: string,
    expected: number | undefined,
  ): OwnCause | undefined {
    if (expected !== undefined && shown < expected)
      return { code: LIST_INCOMPLETE, facts: { shown, expected } };
    if (expected !== undefined || mode === 'trust') return undefined;
    if (gone > 0) return { code: LIST_INCOMPLETE, facts: { shown, gone } };
    if (!isProtected || why !== 'new') return undefined;
    return { code: LIST_UNCONFIRMED, facts: { shown } };
  }

  async function withoutList(
    why: string,
    epoch: string,
    end: Exclude<ListEnd, { kind: 'complete' }>,
  ): Promise<RebuildResult> {
    const facts = answerOf(end.said);
    if (end.kind !== 'unavailable') {
      // The pages of the list changed while they were read; any other trouble waits as a new ledger does.
      const code = end.said.code === LIST_UNSTABLE ? LIST_UNSTABLE : NEW_LEDGER;
      await later(epoch, why === 'new' ? { code, facts } : undefined);
      return 'pending';
    }
    rebuildImpossible(log, { reason: withoutStop(withStatus(end.said)) });
    await later(epoch, { code: LIST_NOT_OFFERED, facts });
    return 'impossible';
  }

  /**
   * Ends the wait and its hold, also where a person decided to continue without the list. False when another epoch of
   * the ledger began meanwhile, which waits for a separate list.
   */
  async function finish(
    epoch: string,
    proved?: Parameters<typeof request.finish>[1],
  ): Promise<boolean> {
    const ended = await request.finish(epoch, proved);
    await deps.refresh();
    return ended;
  }

  async function later(epoch: string, why: Parameters<typeof request.later>[1]): Promise<void> {
    await request.later(epoch, why, policy.settle);
    await deps.refresh();
  }

  return {
    first: createFirstRead(deps, request, tick, mode),
    tick,
    takeIn,
    pending: request.pending,
    finish,
  };
}

/** Whether Redis still lacks what the reports have as cancelled or discarded. */
async function lacksReports(
  { redis, keys }: Pick<Store, 'redis' | 'keys'>,
  { why, epoch }: PendingRebuild,
): Promise<boolean> {
  return why !== 'new' && (await redis.hget(keys.identity, 'recalled')) !== epoch;
}

/** Builds what a start does: it gives a new ledger some seconds. Where the list takes longer, delivery is paused. */
function createFirstRead(
  { clock, refresh }: Pick<RebuildDeps, 'clock' | 'refresh'>,
  request: RebuildRequest,
  tick: () => Promise<RebuildResult>,
  mode: ListMode,
) {
  async function read(until: number, signal: AbortSignal): Promise<void> {
    while ((await tick()) === 'pending' && (await request.pending())?.why === 'new') {
      if (signal.aborted || clock.monotonic() >= until) return;
      await clock.sleep(LOOK_AGAIN, signal);
    }
  }

  return async (signal: AbortSignal): Promise<void> => {
    if (mode === 'prove') await request.proveAssumed();
    const reading = read(clock.monotonic() + START_WAITS, signal);
    await Promise.race([reading, clock.sleep(START_WAITS, signal)]);
    await request.showWait();
    await refresh();
    // It continues beside the other work.
    reading.catch(() => undefined);
  };
}

/**
 * `isIntact`: the ledger lost nothing, so what it never sent was created by others. `epoch`: the one that began when the
 * loss was noticed; the same is true of files that were claimed since.
 */
type Why = {
  isIntact?: boolean;
  epoch?: string | undefined;
  operatorAction?: OperatorAction;
  /** The list could not be read to its end. */
  isPart?: boolean;
};

/** Builds the step that takes listed orders into the ledger. */
export function createTakeIn({
  store,
  ledger,
  policy,
  log,
}: Pick<RebuildDeps, 'store' | 'ledger' | 'policy' | 'log'>) {
  const { redis, keys, time } = store;
  const adopt = createAdoption(store);

  /** The list is read once: what it proves is not lost because the order was changed meanwhile. */
  async function settleAsListed(
    entry: Entry,
    { purchaseOrderNumber: number, digest, times }: Existing & { times: number },
    why: Why,
  ): Promise<void> {
    let open: Entry | undefined = entry;
    while (open) {
      const isIntact = why.isIntact || (await isClaimedIn(open.batch, why.epoch));
      const as = number === open.order.purchaseOrderNumber ? {} : { as: number };
      const event = { kind: 'found' as const, at: time.now(), listed: { digest }, ...as, times };
      const step = next(open, { ...event, isIntact }, policy);
      if (step.kind === 'ignore') return;
      if (await ledger.take(open, step, why.operatorAction)) return logIfDead(open.batch, step);
      const [now] = await ledger.lookup([open.order.purchaseOrderNumber]);
      open = now?.kind === 'open' ? now.entry : undefined;
    }
  }

  async function isClaimedIn(batch: string, epoch: string | undefined): Promise<boolean> {
    return epoch !== undefined && (await redis.hget(keys.batch(batch), 'claimedIn')) === epoch;
  }

  function logIfDead(batch: string, step: Step): void {
    if (step.kind !== 'dead') return;
    const { state: outcome, order, answer } = step.entry;
    orderDead(log, {
      batch,
      order: order.purchaseOrderNumber,
      outcome,
      reason: answer?.message ?? '',
    });
  }

  /** The ledger knows what the API has from now on. Returns how many orders were new to it. */
  return async (listed: readonly Existing[], why: Why = {}): Promise<number> => {
    let added = 0;
    const twice = timesListed(listed);
    const before = await ledger.listedTwice.timesOf([...twice.keys()]);
    if (!why.isPart) await ledger.listedTwice.replace(twice);
    // Lists that are read for files show the same orders each time.
    for (const [i, [order, times]] of why.isPart ? [] : [...twice].entries()) {
      if (before[i] !== times) orderCreatedTwice(log, { order, times });
    }
    for (let i = 0; i < listed.length; i += PAGE) {
      const page = listed.slice(i, i + PAGE);
      const isNew = await adopt(page, time.now());
      const old = page.filter((_, n) => !isNew[n]);
      added += page.length - old.length;
      const known = await ledger.lookup(old.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
      for (const [n, one] of known.entries()) {
        if (one.kind !== 'open') continue;
        const { purchaseOrderNumber = '', digest = UNSHOWN } = old[n] ?? {};
        const times = twice.get(purchaseOrderNumber) ?? 1;
        await settleAsListed(one.entry, { purchaseOrderNumber, digest, times }, why);
      }
    }
    return added;
  };
}
