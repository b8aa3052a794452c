import type { ListEnd, ListedOrder, ReadList } from '../api/list.ts';
import { growingWait } from '../core/backoff/backoff.ts';
import { collectExisting, type Existing } from '../ledger/adopt.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  answerOf,
  LIST_INCOMPLETE,
  LIST_NOT_OFFERED,
  LIST_UNPROVED,
  type OwnCause,
} from '../ledger/pause-cause.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import type { Canaries } from './canaries.ts';
import { compareLedger } from './compare-ledger.ts';
import type { Unproved } from './evidence.ts';
import type { ListKind } from './guarantee.ts';
import { withListLease } from './list-lease.ts';
import { askPaging, readPages } from './list-pages.ts';
import {
  addShown,
  countShared,
  decodeShown,
  encodeShown,
  type ShownNumbers,
} from './shown-numbers.ts';

/** `prove` that the list is complete, `trust` it, or there is `none` (`environments.*.list`). */
export type ListMode = 'prove' | 'trust' | 'none';

export type ListProof = ReturnType<typeof createListProof>;

/** What the configuration says about the list. `isProtected`: at the first start a person says how many orders it must show. */
export type ListRules = { mode: ListMode; isProtected: boolean; settle: number };

type ProofStore = Pick<Store, 'redis' | 'keys' | 'time'>;
type Place = Pick<Store, 'redis' | 'keys'>;

type ListProofDeps = {
  store: ProofStore;
  ledger: Pick<Ledger, 'lookup'>;
  /** One request for the list. */
  list: ReadList;
  rules: ListRules;
  owner: string;
  /** Enters listed orders into the ledger. Returns how many were new to it. */
  takeIn(listed: readonly Existing[], why: Why): Promise<number>;
  canaries: Pick<Canaries, 'remember' | 'flush'>;
  on: ListProofEvents;
};

/**
 * What a read of the list is for: a ledger that lost nothing (`isIntact`), or one that did, and the epoch that began then. `isPart`:
 * it was not read to its end.
 */
type Why = { isIntact: boolean; epoch?: string; isPart?: boolean };

type ListProofEvents = {
  /** Makes the breaker notice at once that a hold changed. */
  refresh(): Promise<void>;
  /** The same reader, for who measures what complete reads show. */
  watch(read: ReadList): ReadList;
  /** What kind of list it turned out to be. */
  kind(kind: ListKind): void;
  /** Whether a list lacked an order that it must show, and showed an older one. */
  cut(isCut: boolean): void;
};

/** Milliseconds between two questions whether the list has pages. */
const ASK_AGAIN = 86_400_000;
/** Where the answer says nothing. */
const ASK_SOON = 60_000;
/** Failures in a row after which a list counts as one of which that is not known, for an hour. */
const MOST_UNANSWERED = 6;
const ASK_FAILED = 3_600_000;
/** The first pause between two reads for the order of the turn: a share of a settle, and the least in milliseconds. */
const FIRST_PAUSE = 1 / 64;
const LEAST_PAUSE = 250;

/** When an order was created that others sent before, as ledger time. */
const BEFORE_ALL = 1;

/** What Redis has of the proof. */
type Stored = {
  isDue: boolean;
  /** The ledger was new: it lost nothing. */
  isIntact: boolean;
  turn: string | undefined;
  /** When its first attempt began. */
  turnAt: number;
  before: number;
  reads: number;
  nextAt: number;
  hasPages: boolean;
  /** Whether a list with two orders or more was ever asked for its pages. */
  isAsked: boolean;
  askedAt: number;
  /** What the configuration said in place of a proof. */
  assumed: string | undefined;
  expected: number | undefined;
};

/**
 * The one way to the API's list. The API can only be asked for all of its orders, and may answer with
 * a part of them: the list is read by pages where it has pages, and before it is used to prove that an
 * order does not exist, it must have shown an order that was sent since, have grown, and still show
 * everything that it showed (docs/guarantees.md, "When a list is complete"). What it shows always counts.
 */
export function createListProof(deps: ListProofDeps) {
  const { store, list, rules, on } = deps;
  const { mode } = rules;
  const { redis, keys, time } = store;
  const judge = createJudge(deps);
  const keep = createKeep(deps);
  let hasLooked = false;

  const readOnce = on.watch(readAll);

  /** An API that offered its list does not take it back: that it does not offer it now is a trouble that ends. */
  async function read(onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    const end = await readOnce(onOrder);
    const isTaken = mode === 'none' || end.kind !== 'unavailable';
    return isTaken ? end : { ...end, kind: 'failed' };
  }

  /** Reads the list completely, as far as it is known how, and looks for the order of the turn in it. */
  async function readAll(onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    if (mode === 'none') return NO_LIST;
    const before = await storedProof(store);
    const { isDue, isIntact, hasPages, isAsked, turn } = before;
    const way: ReadList = hasPages ? (take) => readPages(list, take) : list;
    if (!isDue) return way(onOrder);

    const key = turn && keys.keyOf(turn);
    let isShown = false;
    const all = await readExisting(way, (order) => {
      isShown ||= keys.keyOf(order.purchaseOrderNumber) === key;
      onOrder(order);
    });
    const read = await keep(all, { isIntact });
    if (read.end.kind !== 'complete') return read.end;
    // The first list with two orders or more is asked whether it has pages before it proves anything.
    const isKnown = hasPages || isAsked || mode !== 'prove';
    const paging = isKnown ? false : await knowPaging(read.shown, { isIntact });
    if (paging !== false) return paging === true ? PAGES_FOUND : paging;
    await judge(before, { ...read, isShown });
    return read.end;
  }

  /** Reads the list for a ledger that knows too little, and asks whether it has pages. */
  async function readFirst(why: Why): Promise<FirstRead> {
    hasLooked = true;
    // The guarantee meter need not read it again within the hour.
    await redis.hset(keys.guarantee, { asked: time.now() });
    const plain = await keep(await readExisting(mode === 'none' ? async () => NO_LIST : list), why);
    if (plain.end.kind === 'unavailable') on.kind('notOffered');
    if (plain.end.kind !== 'complete' || mode === 'trust') return plain;
    // A person's word counts, also where its pages cannot be read.
    const { expected } = await storedProof(store);
    if (expected && plain.shown.size >= expected) return plain;

    const paging = await knowPaging(plain.shown, why);
    if (typeof paging !== 'boolean') return { ...plain, end: paging };
    if (!paging) return plain;
    const pages = await keep(await readExisting((take) => readPages(list, take)), why);
    return { ...pages, added: plain.added + pages.added };
  }

  /**
   * Asks whether the list has pages, and remembers the answer for a day. An API that fails each time it
   * is asked does not delay orders forever.
   */
  async function knowPaging(shown: ShownNumbers, why: Why | undefined) {
    const asking: ReadList = async (onOrder, query) => {
      const read = await readExisting((take) => list(take, query), onOrder);
      return (await keep(read, why && { ...why, isPart: true })).end;
    };
    const paging = await askPaging(asking, shown);
    const isOpen = typeof paging !== 'string';
    if (isOpen && (await redis.hincrby(keys.listProof, 'unanswered', 1)) < MOST_UNANSWERED)
      return paging;

    const { hasPages: hadPages } = await storedProof(store);
    const isUnknown = isOpen || paging === 'unknown';
    const hasPages = isUnknown ? hadPages : paging === 'yes';
    if (hasPages) on.kind('paged');
    const isAsked = shown.size >= 2;
    const askedAt = isOpen ? time.now() - ASK_AGAIN + ASK_FAILED : time.now();
    await redis.hset(keys.listProof, {
      paging: hasPages ? 'yes' : isUnknown ? 'unknown' : 'no',
      unanswered: 0,
      ...(isAsked ? { askedAt, asked: 1 } : {}),
    });
    return hasPages;
  }

  /** Reads the list where the order of the turn waits to be shown, and once a day for its pages. */
  async function tick(): Promise<void> {
    const { isDue, turn, expected, nextAt, askedAt } = await storedProof(store);
    if (mode !== 'prove') return isDue ? judge.assume(turn ?? '') : undefined;
    const now = time.now();
    const waiting = turn ?? (expected === undefined ? undefined : '');
    // A daemon that starts looks at once.
    const looksFor = isDue && (now >= nextAt || !hasLooked) ? waiting : undefined;
    const asks = now - askedAt >= ASK_AGAIN && (await redis.exists(keys.rebuild)) === 0;
    if (looksFor === undefined ? !asks : await isSending(looksFor)) return;

    const look = () => (looksFor === undefined ? askAgain() : lookFor(looksFor));
    await withListLease(store, deps.owner, look);
  }

  async function lookFor(turn: string): Promise<void> {
    const end = await readOnce(() => undefined);
    hasLooked = true;
    if (end.kind !== 'complete') await judge.failed(turn, end);
  }

  /** A list with fewer than two orders, or one that cannot be read, is asked again sooner. */
  async function askAgain(): Promise<void> {
    await redis.hset(keys.listProof, { askedAt: time.now() - ASK_AGAIN + ASK_SOON });
    const { isDue, isIntact } = await storedProof(store);
    const why = isDue ? { isIntact } : undefined;
    const { end, shown } = await keep(await readExisting(list), why);
    if (end.kind === 'complete') await knowPaging(shown, why);
  }

  /** The attempt of the turn's order has not ended. */
  async function isSending(turn: string): Promise<boolean> {
    const [known] = await deps.ledger.lookup([turn]);
    return known?.kind === 'open' && known.entry.state === 'sending';
  }

  return {
    read,
    readFirst,
    tick,
    rules,
    sawCut: on.cut,
    sawKind: on.kind,
    vouched: judge.vouched,
    /** Whether this process has looked what the list shows now. */
    hasLooked: () => hasLooked,
  };
}

/** A read that shows nothing that counts as a list. */
type Unread = Exclude<ListEnd, { kind: 'complete' }>;

/** What a read gets where the configuration says that there is no list. */
const NO_LIST: ListEnd = {
  kind: 'unavailable',
  said: { code: 'no-list', message: 'the configuration says that this API has no list' },
};

/** What a read gets that finds out that there are more pages: the next one reads them. */
const PAGES_FOUND: ListEnd = {
  kind: 'failed',
  said: { code: 'list-pages', message: 'the list has pages, which are read next' },
};

/** What a read of the list shows, as rows and as numbers. */
type Read = { end: ListEnd; listed: readonly Existing[]; shown: ShownNumbers };

/** A read of the list for a ledger that knows too little: how many orders were new to it, and how many that lists showed before are gone. */
export type FirstRead = Read & { added: number; gone: number };

async function readExisting(
  list: ReadList,
  onOrder: (order: ListedOrder) => void = () => undefined,
): Promise<Read> {
  const { listed, take } = collectExisting();
  const shown = new Set<number>();
  const end = await list((order) => {
    addShown(shown, order.purchaseOrderNumber);
    take(order);
    onOrder(order);
  });
  return { end, listed, shown };
}

/** Builds the step after each read for a ledger that knows too little: what it shows counts, whatever it was read for. */
function createKeep({ store, takeIn }: Pick<ListProofDeps, 'store' | 'takeIn'>) {
  return async (read: Read, why: Why | undefined): Promise<FirstRead> => {
    if (why === undefined) return { ...read, added: 0, gone: 0 };
    const added = await takeIn(read.listed, { isPart: read.end.kind !== 'complete', ...why });
    return { ...read, added, gone: await keepShown(store, read.shown) };
  };
}

/** `isShown`: the order of the turn is. */
type Shown = FirstRead & { isShown: boolean };

/** Builds the step that compares a complete list with what it must show. */
function createJudge(deps: ListProofDeps) {
  const { store, ledger, canaries, on, rules } = deps;
  const { settle } = rules;
  const { redis, keys, time } = store;
  const script = readScript(new URL('./list-proof.lua', import.meta.url));

  function run(verb: string, turn: string, ...args: (string | number)[]): Promise<unknown> {
    const used = [keys.listProof, keys.listShown, keys.breaker, keys.pauses];
    return runScript(redis, script, used, [verb, time.now(), turn, ...args]);
  }

  async function judge(before: Stored, { listed, shown, gone, isShown }: Shown): Promise<void> {
    const { turn = '' } = before;
    const expected = before.expected || Number.POSITIVE_INFINITY;
    const hasGrown = isShown && shown.size > before.before && gone === 0;
    const isExpected = shown.size >= expected && (isShown || (await mayLack(turn)));
    if (!hasGrown && !isExpected) return later(turn, before, shown.size);
    await (isShown ? remember(turn, before.turnAt) : vouched(listed));
    on.kind(before.hasPages ? 'paged' : 'complete');
    if ((await run('passed', turn)) === 1) await on.refresh();
  }

  /** Whatever a person says, a list that lacks what the API said that it created is not complete. */
  async function mayLack(turn: string): Promise<boolean> {
    const [known] = await ledger.lookup([turn]);
    return known?.kind !== 'accepted' || known.compact.since === undefined;
  }

  /** The list is read again after a growing wait; after two settles delivery says what is missing. */
  async function later(turn: string, before: Stored, seen: number | Unread): Promise<void> {
    const initial = Math.max(LEAST_PAUSE, settle * FIRST_PAUSE);
    const wait = growingWait(before.reads + 1, { initial, max: Math.max(initial, settle) });
    const { sentAt, isDoubtful } = await sightOf(turn);
    const isOver = turn !== '' && time.now() - sentAt >= 2 * settle;
    const since = time.now();
    const hold = { ...whyWaiting(turn, before.before, seen), since, turn };
    const done = await run('looked', turn, since + wait, isOver ? JSON.stringify(hold) : '');
    if (isOver && typeof seen === 'number' && !isDoubtful) on.kind('cut');
    if (done === 1 && isOver) await on.refresh();
  }

  /** Since when the list had time to show the order, and whether the API may lack it. */
  async function sightOf(turn: string): Promise<{ sentAt: number; isDoubtful: boolean }> {
    const [known] = turn === '' ? [] : await ledger.lookup([turn]);
    switch (known?.kind) {
      case 'accepted':
        return { sentAt: known.compact.at, isDoubtful: false };
      case 'open':
        return { sentAt: known.entry.maybeSentAt ?? time.now(), isDoubtful: true };
      case 'nothing':
      case undefined:
        return { sentAt: 0, isDoubtful: false };
    }
  }

  /** Later lists must show it, too. */
  async function remember(number: string, since: number): Promise<void> {
    await canaries.remember(number, since);
    await canaries.flush();
  }

  /** A person said how many orders a complete list shows: no order had to prove it. */
  async function vouched([old]: readonly Existing[]): Promise<void> {
    if (old !== undefined) await remember(old.purchaseOrderNumber, BEFORE_ALL);
  }

  return Object.assign(judge, {
    vouched,
    /** The list could not be read. */
    failed: async (turn: string, end: Unread) => later(turn, await storedProof(store), end),
    /** The configuration says that no proof is needed any more. */
    async assume(turn: string): Promise<void> {
      await redis.hset(keys.listProof, { assumed: rules.mode });
      if ((await run('passed', turn)) === 1) await on.refresh();
    },
  });
}

/** Why delivery waits, with both counts where there are two. */
function whyWaiting(order: string, before: number, seen: number | Unread): OwnCause {
  if (typeof seen === 'number')
    return { code: LIST_INCOMPLETE, facts: { shown: seen, order, before } };
  const code = seen.kind === 'unavailable' ? LIST_NOT_OFFERED : LIST_UNPROVED;
  return { code, facts: { order, ...answerOf(seen.said) } };
}

async function storedProof({ redis, keys }: Place): Promise<Stored> {
  const stored = await redis.hgetall(keys.listProof);
  const { proof, turn, turnAt = '0', before = '0', reads = '0' } = stored;
  const { nextAt = '0', paging, askedAt = '0' } = stored;
  return {
    isDue: proof === 'due',
    isIntact: stored['why'] === 'new',
    turn,
    turnAt: Number(turnAt),
    before: Number(before),
    reads: Number(reads),
    nextAt: Number(nextAt),
    hasPages: paging === 'yes',
    isAsked: stored['asked'] === '1',
    assumed: stored['assumed'],
    askedAt: Number(askedAt),
    expected: stored['expect'] === undefined ? undefined : Number(stored['expect']),
  };
}

/** Reads the list, and says why it proves nothing about orders that it does not show, if it does not. */
export type Look = (
  onOrder: (order: ListedOrder) => void,
) => Promise<ListEnd & { unproved?: Unproved | undefined }>;

/**
 * The way to the complete list for who only looks, as far as it is known whether it has pages. `now`: ledger time.
 */
export function lookingList(
  store: Place,
  { mode, settle }: Pick<ListRules, 'mode' | 'settle'>,
  list: ReadList,
  now: () => number,
): Look {
  return async (onOrder) => {
    if (mode === 'none') return NO_LIST;
    const { hasPages, expected } = await storedProof(store);
    // A person's word counts, also where the pages cannot be read.
    const isWhole = !hasPages || (await hasAsMany(list, expected));
    const from = now();
    const { take, compare } = compareLedger(store);
    const see = (order: ListedOrder) => {
      take(order);
      onOrder(order);
    };
    const end = await (isWhole ? list(see) : readPages(list, see));
    if (end.kind !== 'complete' || mode !== 'prove') return end;
    // What an archive lacks is not known, either.
    const { lacked: order } = await compare({ from, settle, reach: Number.NEGATIVE_INFINITY });
    if (order === undefined) return { ...end, unproved: await unprovedBy(store, mode) };
    return { ...end, unproved: { code: LIST_INCOMPLETE, facts: { order } } };
  };
}

async function hasAsMany(list: ReadList, expected: number | undefined): Promise<boolean> {
  const end = expected ? await list(() => undefined) : undefined;
  return end?.kind === 'complete' && end.orders >= (expected ?? 0);
}

/**
 * Keeps what a list showed, whether it could be read to its end or not: a complete one shows all of it, until an order has proved
 * that. Returns how many that earlier ones showed it lacks.
 */
async function keepShown({ redis, keys }: Place, shown: ShownNumbers): Promise<number> {
  const earlier = decodeShown((await redis.get(keys.listShown)) ?? '');
  await redis.set(keys.listShown, encodeShown(new Set([...earlier, ...shown])));
  return earlier.size - countShared(earlier, shown);
}

/** The number of orders that a person says the API has; undefined: nobody said. */
export async function expectedOrders(store: Place): Promise<number | undefined> {
  return (await storedProof(store)).expected;
}

/** A person says how many orders the API has: a list that shows as many, or more, is complete. */
export async function expectOrders({ redis, keys }: Place, expected: number): Promise<void> {
  await redis.hset(keys.listProof, { expect: expected });
}

/** Why the list proves nothing now about orders that it does not show; undefined: it is proved complete. */
export async function unprovedBy(store: Place, mode: ListMode): Promise<Unproved | undefined> {
  if (mode !== 'prove') return undefined;
  const { redis, keys } = store;
  const [{ isDue, turn, assumed }, isPending, hasLedger, hold] = await Promise.all([
    storedProof(store),
    redis.exists(keys.rebuild),
    redis.hexists(keys.identity, 'epoch'),
    redis.hget(keys.breaker, 'hold:list'),
  ]);
  if (!isDue && assumed === undefined && isPending === 0 && hasLedger === 1) return undefined;
  const isIncomplete = (JSON.parse(hold ?? '{}') as { code?: string }).code === LIST_INCOMPLETE;
  if (isIncomplete && turn !== undefined) return { code: LIST_INCOMPLETE, facts: { order: turn } };
  return { code: 'list-unproved', facts: turn === undefined ? {} : { order: turn } };
}
