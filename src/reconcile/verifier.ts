import type { ListEnd, ListedOrder } from '../api/list.ts';
import { doubtSettled, listRead } from '../events/delivery.ts';
import type { Entry } from '../ledger/entry.ts';
import { withJob } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LedgerEvent, next, type Policy } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import { digestOf } from '../order/digest.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { takeLease } from '../redis/lease.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { Canaries } from './canaries.ts';
import { type Evidence, judgeEvidence } from './evidence.ts';

type VerifierDeps = {
  ledger: Ledger;
  queue: OrderQueue;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  owner: string;
  policy: Policy;
  log: Log;
  canaries: Canaries;
  /** The list showed whether an order in doubt was created; `answer` is what its last attempt ended with. */
  onVerdict(answer: Entry['answer'], wasCreated: boolean): Promise<void>;
  /** Reads the API's list once. */
  list(onOrder: (order: ListedOrder) => void): Promise<ListEnd>;
};

/** Most orders in doubt that one list call answers; the others wait for the next. */
const MOST = 10_000;
const LOCK = 15_000;

/**
 * A verifier asks the API's list about orders in doubt: one call for all that wait, never two at a time over all
 * daemons, and not closer together than ten times what the last one took.
 */
export function createVerifier(deps: VerifierDeps) {
  const { ledger, redis, keys, time, policy, log } = deps;

  /** One round, if any order's time has come. */
  async function tick(): Promise<void> {
    const due = await ledger.numbersDue('doubt', time.now(), MOST);
    if (due.length === 0 || time.now() < (await notBefore())) return;
    const lock = await takeLease(redis, keys.verificationLock, deps.owner, LOCK);
    if (lock === undefined) return;
    try {
      await verify(due);
    } finally {
      await lock.release();
    }
  }

  async function verify(numbers: readonly string[]): Promise<void> {
    await time.sync();
    const listedFrom = time.now();
    const canaries = await deps.canaries.all();
    const wanted = new Set([...numbers, ...canaries.map(({ number }) => number)]);
    const seen = new Map<string, ListedOrder>();
    const end = await deps.list((order) => {
      if (wanted.has(order.purchaseOrderNumber)) seen.set(order.purchaseOrderNumber, order);
    });
    const took = time.now() - listedFrom;
    // Even an instant list is asked at most once in a tenth of a settle.
    const pause = Math.max(10 * took, policy.settle / 10);
    await redis.hset(keys.verification, { notBefore: time.now() + pause });
    listRead(log, { orders: seen.size, asked: numbers.length, durationMs: took, outcome: end.kind });
    await conclude(numbers, end, seen, listedFrom, canaries);
  }

  async function conclude(
    numbers: readonly string[],
    end: ListEnd,
    seen: ReadonlyMap<string, ListedOrder>,
    listedFrom: number,
    canaries: Awaited<ReturnType<Canaries['all']>>,
  ): Promise<void> {
    const known = await ledger.lookup(numbers);
    const entries = known.flatMap((one) => (one.kind === 'open' && one.entry.state === 'unknown' ? [one.entry] : []));
    const evidence = end.kind === 'complete' ? await judgeList(listedFrom, canaries, seen) : undefined;
    const overdue = evidence?.kind === 'bad' ? await badFor(listedFrom) : await goodAgain(evidence);
    for (const entry of entries) {
      const event = eventFor(entry, seen, end, evidence, overdue, listedFrom);
      if (event) await apply(entry, event);
    }
  }

  async function judgeList(
    listedFrom: number,
    canaries: Awaited<ReturnType<Canaries['all']>>,
    seen: ReadonlyMap<string, ListedOrder>,
  ): Promise<Evidence> {
    const underWay = (await ledger.nextDue('due')) !== undefined;
    return judgeEvidence({ listedFrom, settle: policy.settle, canaries, listed: new Set(seen.keys()), underWay });
  }

  /** What this list says of one order in doubt; undefined when it says nothing and the order goes on waiting. */
  function eventFor(
    entry: Entry,
    seen: ReadonlyMap<string, ListedOrder>,
    end: ListEnd,
    evidence: Evidence | undefined,
    overdue: boolean,
    listedFrom: number,
  ): LedgerEvent | undefined {
    const at = time.now();
    const found = seen.get(entry.order.purchaseOrderNumber);
    if (found) return { kind: 'found', at, same: found.items === undefined || isSame(entry, found.items) };
    if (end.kind === 'unavailable') return { kind: 'unlistable', at, answer: end.said };
    if (overdue && hasWaited(entry, listedFrom)) return { kind: 'unlistable', at, answer: LAGGING };
    return evidence?.kind === 'good' ? { kind: 'absent', at, listedFrom, needed: evidence.needed } : undefined;
  }

  async function apply(entry: Entry, event: LedgerEvent): Promise<void> {
    const step = withJob(next(entry, event, policy), deps.queue.nameJob);
    if (!(await ledger.take(entry, step))) return;
    if (event.kind === 'found' && event.same) await deps.onVerdict(entry.answer, true);
    // Only once enough lists agree; the sweeper hands out the retry when it is due.
    if (event.kind === 'absent' && !(step.kind === 'move' && step.entry.state === 'unknown'))
      await deps.onVerdict(entry.answer, false);
    const outcome =
      step.kind === 'accept' ? 'accepted' : step.kind === 'ignore' || step.kind === 'cancel' ? '' : step.entry.state;
    if (outcome !== 'unknown')
      doubtSettled(log, { batch: entry.batch, order: entry.order.purchaseOrderNumber, outcome });
  }

  /** Whether lists have been bad evidence for ten settles; the first bad one starts the count. */
  async function badFor(listedFrom: number): Promise<boolean> {
    await redis.hsetnx(keys.verification, 'badSince', String(listedFrom));
    const since = Number(await redis.hget(keys.verification, 'badSince'));
    return listedFrom - since >= 10 * policy.settle;
  }

  /** Lists are only read while orders are in doubt: a bad one of long ago must not cost a new one its chances. */
  function hasWaited({ maybeSentAt = 0 }: Entry, listedFrom: number): boolean {
    return listedFrom - maybeSentAt >= 10 * policy.settle;
  }

  async function goodAgain(evidence: Evidence | undefined): Promise<false> {
    if (evidence?.kind === 'good') await redis.hdel(keys.verification, 'badSince');
    return false;
  }

  async function notBefore(): Promise<number> {
    return Number((await redis.hget(keys.verification, 'notBefore')) ?? 0);
  }

  return { tick };
}

const LAGGING = {
  code: 'list-incomplete',
  message: "the API's list lacks orders that it must hold, so it proves nothing",
};

function isSame(entry: Entry, items: NonNullable<ListedOrder['items']>): boolean {
  return digestOf({ items }) === entry.digest;
}
