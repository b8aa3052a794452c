import { nextTurnAt } from '../../deliver/guards.ts';
import { type Batch, totalOrders } from '../../ledger/batches/batches.ts';
import type { Entry } from '../../ledger/entry.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { countSettled } from '../../order/outcome.ts';
import { listState } from '../../reconcile/list-pace.ts';
import { isBeating, livingDaemons } from '../daemon.ts';
import type { OperatorContext } from '../operator-context.ts';
import { noReader, type Surroundings, type Wait, type WaitKind, waitOf, waitOfFile } from './wait-of.ts';

/**
 * Orders that wait for the same. `oldest`: the one whose file was taken first (`since`, in milliseconds); a dead letter is
 * named by its batch only. `unread`: further orders of files that are read when the wait ends.
 */
export type WaitGroup = Wait & {
  orders: number;
  unread?: number;
  oldest?: { order?: string; batch: string; since: number };
};

type WaitContext = Pick<OperatorContext, 'batches' | 'breaker' | 'ledger'> & {
  store: Pick<OperatorContext['store'], 'redis' | 'keys' | 'time'>;
};

/** Orders that are examined one by one in each of the two sets; the rest are only counted. */
const MOST = 10_000;

/** What all open orders wait for together. */
export async function readSurroundings({ store, batches, breaker }: WaitContext): Promise<Surroundings> {
  const [daemons, pauses, names, turnAt, list] = await Promise.all([
    livingDaemons(store),
    breaker.reasons(),
    batches.held(),
    nextTurnAt(store),
    listState(store),
    breaker.refresh(true),
  ]);
  const held = await Promise.all(names.map(batches.find));
  const serving = daemons.filter(({ role }) => role !== 'intake');
  return {
    now: store.time.now(),
    isServed: serving.length > 0,
    isSilent: !serving.some(isBeating),
    isRead: daemons.some((one) => one.role !== 'delivery' && isBeating(one)),
    pauses,
    held: new Map(held.flatMap((batch) => (batch?.held ? [[batch.batch, batch.held.reason] as const] : []))),
    slowUntil: breaker.slowUntil(),
    nextTurnAt: turnAt,
    list,
  };
}

/** What the orders that are not settled wait for, the largest group first. Dead letters are not among them. */
export async function readWaits(context: WaitContext): Promise<WaitGroup[]> {
  const around = await readSurroundings(context);
  const groups = new Map<string, WaitGroup>();
  const seen = new Map<string, number>();
  for (const set of ['due', 'doubt'] as const) await addSet(set, groups, { around, seen }, context);
  const { orders, oldest, ofBatchNo } = await context.ledger.followers.count(MOST);
  const waiting = ({ batch, no }: Batch) => (seen.get(batch) ?? 0) + (ofBatchNo.get(no) ?? 0);
  if (!groups.has('unexamined')) await addUnread(groups, around, waiting, context);
  if (orders > 0) {
    const since = oldest && claimTimeOf(oldest.batch);
    const first = oldest && since !== undefined && { oldest: { ...oldest, since } };
    const reason = 'the same order of another file has no outcome yet';
    groups.set('order', { for: 'order', reason, orders, ...first });
  }
  return [...groups.values()].sort((a, b) => b.orders - a.orders);
}

/** What is left of the files that wait; of every file while no daemon reads. `waiting`: how many orders of a batch wait. */
async function addUnread(
  groups: Map<string, WaitGroup>,
  around: Surroundings,
  waiting: (batch: Batch) => number,
  { batches }: WaitContext,
): Promise<void> {
  const { isRead = false, isServed } = around;
  const first = groups.entries().find(([key]) => !/^(release|file) /.test(key));
  const whole: [string, WaitGroup] | undefined = isRead ? first : ['daemon', { ...noReader(isServed), orders: 0 }];
  for (const batch of await batches.underWay()) {
    const own = waitOfFile(batch, around);
    const isWaiting = batch.state === 'reading' && (!isRead || (own ?? batch.waitsAfter) !== undefined);
    const left = isWaiting ? (totalOrders(batch) ?? 0) - countSettled(batch.counts) - waiting(batch) : 0;
    const [key, group] = own ? [`${own.for} ${own.reason}`, { ...own, orders: 0 }] : (whole ?? []);
    if (left <= 0 || key === undefined) continue;
    const before: WaitGroup | undefined = groups.get(key) ?? group;
    if (before) groups.set(key, { ...before, unread: (before.unread ?? 0) + left });
  }
}

async function addSet(
  set: 'due' | 'doubt',
  groups: Map<string, WaitGroup>,
  { around, seen }: { around: Surroundings; seen: Map<string, number> },
  { store, ledger }: WaitContext,
): Promise<void> {
  const { redis, keys } = store;
  const flat = await redis.zrange(keys[set], 0, String(MOST - 1), 'WITHSCORES');
  const numbers = flat.filter((_, i) => i % 2 === 0);
  const known = await ledger.lookup(numbers);
  for (const [i, one] of known.entries()) {
    if (one.kind !== 'open') continue;
    seen.set(one.entry.batch, (seen.get(one.entry.batch) ?? 0) + 1);
    addOrder(groups, one.entry, waitOf(one.entry, Number(flat[2 * i + 1]), around));
  }
  const rest = (await redis.zcard(keys[set])) - numbers.length;
  if (rest <= 0) return;
  const all = rest + (groups.get('unexamined')?.orders ?? 0);
  groups.set('unexamined', { for: 'unexamined', reason: 'not examined one by one', orders: all });
}

/** Groups with one reason for all orders are separated by it; the others show the reason of their oldest order. */
const SHARED: readonly WaitKind[] = ['release', 'pause', 'first-list'];

function addOrder(groups: Map<string, WaitGroup>, entry: Entry, wait: Wait): void {
  const { batch, order } = entry;
  const since = claimTimeOf(batch) ?? entry.firstAt ?? entry.version;
  const oldest = { order: order.purchaseOrderNumber, batch, since };
  const key = SHARED.includes(wait.for) ? `${wait.for} ${wait.reason}` : wait.for;
  const before = groups.get(key);
  if (before === undefined) return void groups.set(key, { ...wait, orders: 1, oldest });
  const isOlder = since < (before.oldest?.since ?? 0);
  const until = Math.min(before.until ?? Number.POSITIVE_INFINITY, wait.until ?? Number.POSITIVE_INFINITY);
  groups.set(key, {
    ...before,
    orders: before.orders + 1,
    ...(isOlder ? { oldest, reason: wait.reason } : {}),
    ...(Number.isFinite(until) ? { until } : {}),
  });
}
