import { nextTurnAt } from '../../deliver/guards.ts';
import { type Batch, totalOrders } from '../../ledger/batches/batches.ts';
import { readOpenDeadLetters } from '../../ledger/dead-letters.ts';
import type { Entry, Known } from '../../ledger/entry.ts';
import { dueTime } from '../../ledger/ledger.ts';
import type { WaitKind } from '../../ledger/wait-cause.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { FileWait, Waits } from '../../order/file-wait.ts';
import { countSettled } from '../../order/outcome.ts';
import { listState } from '../../reconcile/list-pace.ts';
import { delivers } from '../delivery/pause-delivery.ts';
import { isBeating, livingDaemons } from '../heartbeat.ts';
import type { OperatorContext } from '../operator-context.ts';
import {
  canBeTried,
  noReader,
  type Surroundings,
  type Wait,
  waitOf,
  waitOfFile,
} from './wait-of.ts';

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

/**
 * Orders without an outcome, and the batches that are not done, oldest first. `again`: those that were sent again, whose dead
 * letter stays open until the outcome.
 */
export type OpenOrders = {
  batches: Batch[];
  due: OpenSet;
  doubt: OpenSet;
  again: ReadonlySet<string>;
};

/** How many orders a set has, and the first of them with the time when each is looked at. */
type OpenSet = { total: number; first: { key: string; at: number }[] };

/** Orders that are examined one by one in each of the two sets; the rest are only counted. */
const MOST = 10_000;

/** What all open orders wait for together. */
export async function readSurroundings({
  store,
  batches,
  breaker,
}: WaitContext): Promise<Surroundings> {
  const [daemons, pauses, names, turnAt, list] = await Promise.all([
    livingDaemons(store),
    breaker.reasons(),
    batches.held(),
    nextTurnAt(store),
    listState(store),
    breaker.refresh(true),
  ]);
  const held = await Promise.all(names.map(batches.find));
  const serving = daemons.filter(delivers);
  const first = serving.find(isBeating);
  return {
    now: store.time.now(),
    isServed: serving.length > 0,
    isSilent: first === undefined,
    isUnsteady: serving.filter(isBeating).every((one) => one.isUnsteady),
    ...(first && { servedSince: first.since }),
    isRead: daemons.some((one) => one.role !== 'delivery' && isBeating(one)),
    pauses,
    held: new Map(
      held.flatMap((batch) =>
        batch?.held ? [[batch.batch, withoutTime(batch.held)] as const] : [],
      ),
    ),
    slowUntil: breaker.slowUntil(),
    nextTurnAt: turnAt,
    list,
  };
}

function withoutTime(waits: Waits): FileWait {
  const { since: _, ...wait } = waits;
  return wait;
}

/**
 * What the orders that are not settled wait for, the largest group first. Dead letters are not among them. `batches`: those that
 * are not done, as of the same moment.
 */
export async function readWaits(
  context: WaitContext,
  open?: OpenOrders,
): Promise<{ waits: WaitGroup[]; batches: Batch[] }> {
  const around = await readSurroundings(context);
  const all = open ?? (await readOpenOrders(context));
  const groups = new Map<string, WaitGroup>();
  const tally = createTally(all);
  for (const set of ['due', 'doubt'] as const)
    await addSet(all[set], groups, { around, tally }, context);
  addUnread(groups, around, tally.unread());
  const waits = [...groups.values()].sort((a, b) => b.orders - a.orders);
  return { waits, batches: all.batches };
}

const TURN: WaitGroup = { code: 'turn', facts: {}, orders: 0 };

/** What is left of the files: it is read as the orders before it are delivered, or when a daemon reads again. */
function addUnread(
  groups: Map<string, WaitGroup>,
  around: Surroundings,
  unread: ReadonlyMap<Batch, number>,
): void {
  const { isRead = false, isServed } = around;
  // Not those that were sent and failed: the file does not wait for the next attempt of one of them.
  const isTurn = (kind: WaitKind) =>
    kind === 'first-list' || (kind !== 'retry' && canBeTried(kind));
  const first = groups.entries().find(([, { code }]) => isTurn(code));
  const whole: [string, WaitGroup] = isRead
    ? (first ?? ['turn', TURN])
    : ['daemon', { ...noReader(isServed), orders: 0 }];
  for (const [batch, left] of unread) {
    if (left <= 0) continue;
    const own = waitOfFile(batch, around);
    const [key, group] = own ? [keyOf(own), { ...own, orders: 0 }] : whole;
    const before: WaitGroup = groups.get(key) ?? group;
    groups.set(key, { ...before, unread: (before.unread ?? 0) + left });
  }
}

const REPEATED: Wait = { code: 'order', facts: {} };

async function addSet(
  { total, first }: OpenOrders['due'],
  groups: Map<string, WaitGroup>,
  { around, tally }: { around: Surroundings; tally: ReturnType<typeof createTally> },
  { ledger }: WaitContext,
): Promise<void> {
  const known = await ledger.lookup(first.map(({ key }) => key));
  const open: { entry: Entry; at: number }[] = [];
  for (const [i, one] of known.entries()) {
    tally.add(one, first[i]?.key);
    if (one.kind === 'open') open.push({ entry: one.entry, at: first[i]?.at ?? 0 });
  }
  // Orders of one file are equally old: of these, a group names the first in the file.
  open.sort((a, b) => a.entry.ordinal - b.entry.ordinal);
  for (const { entry, at } of open) {
    addOrder(groups, entry, waitOf(entry, at, around));
    for (const { batch } of entry.also ?? []) addOrder(groups, { ...entry, batch }, REPEATED);
  }
  const rest = total - first.length;
  if (rest <= 0) return;
  const all = rest + (groups.get('unexamined')?.orders ?? 0);
  groups.set('unexamined', { code: 'unexamined', facts: {}, orders: all });
}

/** Groups with the same facts for all orders are separated by them; the others show those of their oldest order. */
const SHARED: readonly WaitKind[] = ['release', 'pause', 'first-list', 'file', 'file-list'];

function keyOf({ code, facts }: Wait): string {
  return SHARED.includes(code) ? JSON.stringify([code, facts]) : code;
}

function addOrder(groups: Map<string, WaitGroup>, entry: Entry, wait: Wait): void {
  const { batch, order } = entry;
  const since = claimTimeOf(batch) ?? entry.firstAt ?? entry.version;
  const oldest = { order: order.purchaseOrderNumber, batch, since };
  const key = keyOf(wait);
  const before = groups.get(key);
  if (before === undefined) return void groups.set(key, { ...wait, orders: 1, oldest });
  const isOlder = since < (before.oldest?.since ?? 0);
  const until = Math.min(
    before.until ?? Number.POSITIVE_INFINITY,
    wait.until ?? Number.POSITIVE_INFINITY,
  );
  groups.set(key, {
    ...before,
    orders: before.orders + 1,
    ...(isOlder ? { ...wait, oldest } : {}),
    ...(Number.isFinite(until) ? { until } : {}),
  });
}

/** Both sets and the batches, of one moment: while orders are delivered, figures of different moments do not add up. */
export async function readOpenOrders(context: WaitContext): Promise<OpenOrders> {
  const { found, sets: read } = await context.batches.underWayWith(MOST);
  const [dueTotal, due, doubtTotal, doubt] = read;
  const sets = { due: setOf(dueTotal, due), doubt: setOf(doubtTotal, doubt) };
  return {
    batches: found,
    ...sets,
    again: await sentAgain([...sets.due.first, ...sets.doubt.first], context),
  };
}

/** Those of these orders whose dead letter is their own. */
async function sentAgain(
  first: OpenSet['first'],
  { store, ledger }: WaitContext,
): Promise<ReadonlySet<string>> {
  const { redis, keys } = store;
  if (first.length === 0 || (await redis.hlen(keys.waiting)) === 0) return new Set();
  const known = await ledger.lookup(first.map(({ key }) => key));
  const open = known.flatMap((one, i) =>
    one.kind === 'open' ? [{ entry: one.entry, key: first[i]?.key ?? '' }] : [],
  );
  if (open.length === 0) return new Set();
  const texts = await redis.hmget(keys.waiting, ...open.map(({ key }) => key));
  const again = open.filter(({ entry: { batch, ordinal } }, i) => {
    const [letter] = readOpenDeadLetters(texts[i] ?? '');
    return letter?.batch === batch && letter.ordinal === ordinal;
  });
  return new Set(again.map(({ key }) => key));
}

function setOf(total: unknown, members: unknown): OpenSet {
  const flat = Array.isArray(members) ? members.map(String) : [];
  const first = flat.flatMap((key, i) =>
    i % 2 === 0 ? [{ key, at: dueTime(Number(flat[i + 1])) }] : [],
  );
  return { total: Number(total), first };
}

/** Counts the orders of each batch that were open when the sets were read, whatever became of them since. */
function createTally({ batches, due, doubt, again }: OpenOrders) {
  const ofBatch = new Map<string, number>();
  let counted = 0;

  return {
    add(known: Known, key = ''): void {
      const batch =
        known.kind === 'accepted'
          ? nameOf(known.compact.batchNo)
          : known.kind === 'open' && known.entry.batch;
      if (!batch) return;
      counted += 1;
      const also = known.kind === 'open' ? (known.entry.also ?? []).map((one) => one.batch) : [];
      // Its batch counts its first outcome.
      for (const one of again.has(key) ? also : [batch, ...also])
        ofBatch.set(one, (ofBatch.get(one) ?? 0) + 1);
    },
    /** How many orders of each batch that is being read are not read yet. */
    unread(): Map<Batch, number> {
      const left = new Map(batches.map((batch) => [batch, leftOf(batch)]));
      // Those that were not examined are of files that are read to their end, as far as these have any left.
      let rest = due.total + doubt.total - counted;
      for (const [{ state }, orders] of left) if (state !== 'reading') rest -= Math.max(0, orders);
      const unread = new Map<Batch, number>();
      for (const [batch, orders] of left) {
        if (batch.state !== 'reading') continue;
        const others = Math.max(0, Math.min(rest, orders));
        rest -= others;
        unread.set(batch, orders - others);
      }
      return unread;
    },
  };

  function nameOf(batchNo: number): string | undefined {
    return batches.find(({ no }) => no === batchNo)?.batch;
  }

  function leftOf(batch: Batch): number {
    return (totalOrders(batch) ?? 0) - countSettled(batch.counts) - (ofBatch.get(batch.batch) ?? 0);
  }
}
