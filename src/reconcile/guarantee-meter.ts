import type { ListEnd, ListedOrder, ReadList } from '../api/list.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { within } from '../core/semaphore.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { deliveryTrouble } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { KeyOf } from '../order/number-key.ts';
import { scored } from '../redis/scored.ts';
import type { Store } from '../redis/store.ts';
import {
  type Bracket,
  dayOf,
  isKept,
  joinSeen,
  type ListKind,
  NOTHING_SEEN,
  type Seen,
} from './guarantee.ts';
import { withListLease } from './list-lease.ts';
import { listState } from './list-pace.ts';

type MeterDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  ledger: Pick<Ledger, 'numbersDue' | 'lookup'>;
  clock: Clock;
  owner: string;
  settle: number;
  log: Log;
  stopping: AbortSignal;
};

/** Of the created orders that no list has shown, the oldest are watched, then the newest ones. */
const FIRST = 10;
const MOST = 60;
/** Orders in doubt that one read looks for. */
const MOST_DOUBTS = 20;
/** Milliseconds between two created orders that are watched. */
const SPACING = 1_000;
/** Without another read for so many milliseconds, the meter reads the list itself. */
const HOUR = 3_600_000;
/** A created order is watched so many milliseconds. */
const PATIENCE = 24 * HOUR;

/** Measures the assumptions of docs/guarantees.md from orders that are created and lists that are read, for all daemons. */
export function createGuaranteeMeter({
  store,
  ledger,
  clock,
  owner,
  settle,
  log,
  stopping,
}: MeterDeps) {
  const { redis, keys, time } = store;
  let remembered = Number.NEGATIVE_INFINITY;

  const onTrouble = (error: unknown) => {
    if (!stopping.aborted) deliveryTrouble(log, { reason: toError(error).message });
  };

  /** The API has just answered that it created this order. */
  function remember(number: string): void {
    if (clock.monotonic() - remembered < SPACING) return;
    remembered = clock.monotonic();
    redis
      .multi()
      .zadd(keys.unseen, 'NX', time.now(), number)
      .zremrangebyrank(keys.unseen, FIRST, -(MOST - FIRST) - 1)
      .exec()
      .catch(onTrouble);
  }

  /** The same reader of the list; what it shows and lacks is measured. One reader at a time, over all daemons. */
  function watch(list: ReadList): ReadList {
    return async (onOrder) => {
      const sight = await begin().catch(onTrouble);
      const end = await list((order) => {
        sight?.take(order);
        onOrder(order);
      });
      if (sight && !stopping.aborted) await record(sight, end).catch(onTrouble);
      return end;
    };
  }

  async function begin(): Promise<Sight> {
    const from = time.now();
    const [flat, [listed, lacked]] = await Promise.all([
      redis.zrange(keys.unseen, 0, '-1', 'WITHSCORES'),
      redis.hmget(keys.guarantee, 'listed', 'lacked'),
      redis.hset(keys.guarantee, 'asked', from),
    ]);
    const before = { from: Number(listed ?? 0), lacked: JSON.parse(lacked ?? '{}') };
    const due = await ledger.numbersDue('doubt', Number.MAX_SAFE_INTEGER, MOST_DOUBTS);
    const doubts = await inDoubt([...due, ...Object.keys(before.lacked)].slice(0, 2 * MOST_DOUBTS));
    return createSight({
      from,
      before,
      created: new Map(scored(flat)),
      doubts,
      now: time.now,
      keyOf: keys.keyOf,
    });
  }

  /** Of these orders, those that no attempt is under way for after a call without a clear answer, and when that ended. */
  async function inDoubt(numbers: readonly string[]): Promise<Map<string, number>> {
    const found = await ledger.lookup([...new Set(numbers)]);
    const sent = found.flatMap((one): [string, number][] => {
      if (one.kind !== 'open' || one.entry.attempt === 0) return [];
      const { order, state, maybeSentAt } = one.entry;
      const isInDoubt = state === 'unknown' || state === 'retry';
      return isInDoubt && maybeSentAt ? [[order.purchaseOrderNumber, maybeSentAt]] : [];
    });
    return new Map(sent);
  }

  async function record(sight: Sight, end: ListEnd): Promise<void> {
    const isComplete = end.kind === 'complete';
    const respelled = isComplete ? sight.respelled(settle) : [];
    // An attempt that began meanwhile may have created what the list shows.
    const doubts = await inDoubt(sight.doubts());
    const day = dayOf(sight.from);
    const before = await redis.hget(keys.guarantee, day);
    const seen: Seen[] = [
      before === null ? NOTHING_SEEN : JSON.parse(before),
      { lists: isComplete ? 1 : 0, respelled: respelled.length },
      ...sight.lags(),
      ...sight.delays(doubts),
    ];
    const all = redis.multi().hset(keys.guarantee, day, JSON.stringify(seen.reduce(joinSeen)));
    if (isComplete)
      all.hset(keys.guarantee, { listed: sight.from, lacked: JSON.stringify(sight.lacked()) });
    const gone = [...sight.shown(), ...respelled, ...sight.createdBefore(sight.from - PATIENCE)];
    if (gone.length > 0) all.zrem(keys.unseen, ...gone);
    const old = before === null ? await outdated(sight.from) : [];
    if (old.length > 0) all.hdel(keys.guarantee, ...old);
    await all.exec();
  }

  async function outdated(now: number): Promise<string[]> {
    const fields = await redis.hkeys(keys.guarantee);
    return fields.filter((field) => /^\d+$/.test(field) && !isKept(field, now));
  }

  /** Whoever examines the list found this; the last word counts. Call it after each examination. */
  function sawKind(kind: ListKind): void {
    redis.hset(keys.guarantee, { kind }).catch(onTrouble);
  }

  /** Whether a list lacked an order that it must show, and showed an older one. */
  function sawCut(isCut: boolean): void {
    const noted = isCut
      ? redis.hset(keys.guarantee, { cut: 1 })
      : redis.hdel(keys.guarantee, 'cut');
    noted.catch(onTrouble);
  }

  /** Reads the list when a created order should be in it by now, and nobody has read it for an hour. */
  async function tick(list: ReadList): Promise<void> {
    if (!(await isDue())) return;
    await withListLease(store, owner, async () => {
      // A stop does not wait for a list that takes minutes.
      if (await isDue())
        await within(
          HOUR,
          list(() => undefined),
          clock,
          stopping,
        );
    });
  }

  async function isDue(): Promise<boolean> {
    const [[, oldest], asked, { nextAt }] = await Promise.all([
      redis.zrange(keys.unseen, 0, '0', 'WITHSCORES'),
      redis.hget(keys.guarantee, 'asked'),
      listState(store),
    ]);
    const now = time.now();
    const isOld = oldest !== undefined && now - Number(oldest) >= settle;
    return isOld && now - Number(asked ?? 0) >= HOUR && now >= nextAt;
  }

  return { remember, watch, sawKind, sawCut, tick };
}

/** `created` and `doubts`: number → when its call ended. `before`: the last complete list, and the doubts that it lacked. */
type Looking = {
  from: number;
  before: { from: number; lacked: Record<string, number> };
  created: ReadonlyMap<string, number>;
  doubts: ReadonlyMap<string, number>;
  now: () => number;
  keyOf: KeyOf;
};

type Sight = ReturnType<typeof createSight>;

/** What one list shows of the orders that are watched. */
function createSight({ from, before, created, doubts, now, keyOf }: Looking) {
  const shownAt = new Map<string, number>();
  const spelled = new Set<string>();
  const spellings = new Map([...created.keys()].map((number) => [keyOf(number), number]));

  function take({ purchaseOrderNumber: number }: ListedOrder): void {
    if (created.has(number) || doubts.has(number)) {
      if (!shownAt.has(number)) shownAt.set(number, now());
    } else if (spellings.size > 0) {
      const meant = spellings.get(keyOf(number));
      if (meant !== undefined) spelled.add(meant);
    }
  }

  /** One bracket for each of these orders that is shown. `lackedAt`: when a list began that lacked it. */
  function brackets(of: ReadonlyMap<string, number>, lackedAt: (number: string) => number) {
    return [...of].flatMap(([number, since]): Bracket[] => {
      const at = shownAt.get(number);
      if (at === undefined) return [];
      const atLeast = Math.max(0, lackedAt(number) - since);
      return [{ samples: 1, atLeast, atMost: Math.max(at - since, atLeast + 1) }];
    });
  }

  return {
    from,
    take,
    shown: () => [...shownAt.keys()],
    doubts: () => [...doubts.keys()].filter((number) => shownAt.has(number)),
    lags: () => brackets(created, () => before.from).map((lag): Seen => ({ ...NOTHING_SEEN, lag })),
    /** `still`: those of them that no attempt has changed since. */
    delays: (still: ReadonlyMap<string, number>) =>
      brackets(still, (number) =>
        before.lacked[number] === still.get(number) ? before.from : 0,
      ).map((late): Seen => ({ ...NOTHING_SEEN, late })),
    lacked: () => Object.fromEntries([...doubts].filter(([number]) => !shownAt.has(number))),
    createdBefore: (time: number) =>
      [...created].flatMap(([number, at]) => (at < time ? [number] : [])),
    /** Orders that should be shown by now, and that the list shows in another spelling only. */
    respelled: (settle: number) =>
      [...spelled].filter(
        (number) => !shownAt.has(number) && from - (created.get(number) ?? from) >= settle,
      ),
  };
}
