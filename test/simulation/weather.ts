import { LASTING, type Lasting } from './lasting.ts';
import type { Random } from './random.ts';

/**
 * What a world may do to the program. Shares are of 1, times in milliseconds. Everything here keeps to the assumptions
 * A1 to A6 of docs/guarantees.md; what breaks one of them is a `Breach`.
 */
export type Weather = {
  machines: number;
  /** Calls in flight of one machine. With few of them, orders wait with their intents, which are given back. */
  calls: number;
  orders: number;
  /** How long after the start no more faults come. */
  calmAt: number;
  settle: number;
  attempts: number;
  timeout: number;
  /** Of each turn of a process. */
  crash: number;
  freeze: number;
  longestFreeze: number;
  /** Of freezes: the complete machine sleeps, and its monotonic clock with it. */
  suspends: number;
  /** Of the requests to Redis and its answers. */
  lostByStore: number;
  storeOutages: number;
  /** Of jobs: lost by the queue. */
  lostJobs: number;
  /** Of requests: never sent, never arrived, never answered, answered cut off, answered late. */
  unsent: number;
  lostRequests: number;
  lostAnswers: number;
  cutAnswers: number;
  slowAnswers: number;
  /** Of answers: 5xx (stored or not), busy, token or rights refused, pages of something in between. */
  serverErrors: number;
  busy: number;
  closed: number;
  pages: number;
  /** The API stores a request up to this long after its end was seen here. */
  commitWithin: number;
  /** A stored order shows in the list up to this long after. */
  listedWithin: number;
  /** Of stored orders: those that show later than that, though within two settles. */
  stragglers: number;
  listFails: number;
  /** Of lists: cut, in a way that a canary shows. */
  listCut: number;
  listForbidden: boolean;
  listWithoutItems: boolean;
  refusesDuplicates: boolean;
  revokes: number;
  tokenFails: number;
  /** What one order always gets. */
  stickyOrder:
    | 'none'
    | 'broken'
    | 'cut'
    | 'misnamed'
    | 'empty'
    | 'forbidden'
    | 'unauthorized'
    | 'other code';
  /** What the list always answers, from some time on. */
  stickyList: 'none' | 'strings' | 'page' | 'error' | 'unauthorized' | 'cut' | 'hangs';
  stickyListFrom: number;
  /** What happens to the ledger once in the middle of the run. */
  rollback: 'none' | 'flush' | 'empty' | 'older';
  /** What every call gets for some time, and when. */
  lasting: 'none' | Lasting;
  lastingFrom: number;
  lastingUntil: number;
  /** The API writes every number in lower case, in its answers and in its list. */
  rewritesNumbers: boolean;
  /** Orders of the files that the API had before the first start, and how long its list fails at that start. */
  hadBefore: number;
  firstListFails: number;
  /** Numbers that another client uses for other orders, before and meanwhile. */
  others: number;
  /** The list no longer shows orders that are older than this. */
  archiveAfter: number;
  /** What the list shows of the orders, and how many: see `shownOf`. */
  listKind: ListKind;
  listSize: number;
  /** How often the wall clock of a machine is set by an hour. */
  clockJumps: number;
  /** How often the clock of Redis is set by up to an hour. */
  redisSteps: number;
  /** Commands that people run, and the share of their decisions that is wrong. */
  people: number;
  mistakes: number;
  /** Somebody compares the ledger with the list, and repairs it. */
  reconciles: boolean;
  /** Versions of an export. */
  exports: number;
};

/**
 * All orders; without a word only the newest or the oldest, from the start, once there are more, or until it is
 * healed; in pages, always or on request; or `limit` is honored and `offset` is not.
 */
export type ListKind =
  | 'all'
  | 'newest'
  | 'oldest'
  | 'newest later'
  | 'oldest later'
  | 'healed'
  | 'paged'
  | 'paged on request'
  | 'limited';

const LIST_KINDS: readonly ListKind[] = [
  'newest',
  'oldest',
  'newest later',
  'oldest later',
  'healed',
  'paged',
  'paged',
  'paged on request',
  'limited',
];

const STICKY_ORDERS = [
  'broken',
  'cut',
  'misnamed',
  'empty',
  'forbidden',
  'unauthorized',
  'other code',
] as const;
const STICKY_LISTS = ['strings', 'page', 'error', 'unauthorized', 'cut', 'hangs'] as const;

const MINUTE = 60_000;

/** The weather of a seed: each kind of fault is absent in some worlds, rare in many, and heavy in a few. */
export function weatherOf(random: Random): Weather {
  const share = (most: number) => (random.chance(0.5) ? 0 : most * random.next() ** 2);
  const rollback = random.chance(0.15) ? random.pick(['flush', 'empty', 'older'] as const) : 'none';
  const settle = 40_000;
  // After a rollback only a person could resume delivery in such an environment.
  const listForbidden = rollback === 'none' && random.chance(0.05);
  const commitWithin = random.between(0, 0.45) * settle;
  const calmAt = random.between(1, 10) * MINUTE;
  return {
    machines: 1 + random.below(3),
    orders: 40,
    calmAt,
    settle,
    attempts: random.chance(0.8) ? 12 : 2,
    timeout: 30_000,
    crash: share(0.03),
    freeze: share(0.03),
    longestFreeze: random.pick([1_000, 30_000, 10 * MINUTE]),
    suspends: random.chance(0.3) ? 0.5 : 0,
    lostByStore: share(0.1),
    storeOutages: random.chance(0.2) ? 1 + random.below(3) : 0,
    lostJobs: share(0.3),
    unsent: share(0.3),
    lostRequests: share(0.3),
    lostAnswers: share(0.5),
    cutAnswers: share(0.3),
    slowAnswers: share(0.3),
    serverErrors: share(0.5),
    busy: share(0.3),
    closed: share(0.1),
    pages: share(0.2),
    commitWithin,
    listedWithin: 0.93 * settle - commitWithin,
    stragglers: rollback === 'none' ? share(0.1) : 0,
    listFails: share(0.5),
    listCut: share(0.5),
    listForbidden,
    listWithoutItems: random.chance(0.2),
    refusesDuplicates: random.chance(0.3),
    revokes: random.chance(0.3) ? 1 + random.below(3) : 0,
    tokenFails: share(0.3),
    stickyOrder: random.chance(0.2) ? random.pick(STICKY_ORDERS) : 'none',
    // After a rollback delivery waits for a list that can be read.
    stickyList: rollback === 'none' && random.chance(0.1) ? random.pick(STICKY_LISTS) : 'none',
    stickyListFrom: random.between(1, 5) * MINUTE,
    rollback,
    ...newcomers(random, { rollback, listForbidden, calmAt }),
  };
}

/** What was added to the worlds later, drawn last. */
function newcomers(
  random: Random,
  { rollback, listForbidden, calmAt }: Pick<Weather, 'rollback' | 'listForbidden' | 'calmAt'>,
) {
  const keepsLedger = rollback === 'none';
  const lastingFrom = random.between(0, calmAt);
  const rewritesNumbers = keepsLedger && random.chance(0.03);
  // Without a list nobody can know what the API had before.
  const isOld = keepsLedger && !rewritesNumbers && !listForbidden && random.chance(0.15);
  const isBusy = random.chance(0.5);
  return {
    lasting: random.chance(0.25) ? random.pick(LASTING) : ('none' as const),
    lastingFrom,
    lastingUntil: calmAt + random.between(0, 10 * MINUTE),
    rewritesNumbers,
    hadBefore: isOld ? 1 + random.below(20) : 0,
    firstListFails: isOld && random.chance(0.7) ? random.between(0, 10 * MINUTE) : 0,
    others: keepsLedger && random.chance(0.1) ? 1 + random.below(3) : 0,
    archiveAfter:
      keepsLedger && random.chance(0.1)
        ? random.between(15, 60) * MINUTE
        : Number.POSITIVE_INFINITY,
    clockJumps: random.chance(0.2) ? 1 + random.below(3) : 0,
    people: isBusy ? 1 + random.below(12) : 0,
    mistakes: random.chance(0.3) ? 0.3 : 0,
    reconciles: random.chance(0.02),
    exports: random.chance(0.3) ? 2 + random.below(5) : 0,
    calls: random.pick([1, 1, 2, 4]),
    redisSteps: random.chance(0.2) ? 1 + random.below(3) : 0,
    ...listWeather(random, keepsLedger && !listForbidden && !rewritesNumbers, isOld),
  };
}

/** A list that is cut or has pages, most often where the API has orders from before. */
function listWeather(random: Random, mayBeCut: boolean, isOld: boolean) {
  const kinds = LIST_KINDS.filter((kind) => mayBeCut || kind.startsWith('paged'));
  const isOdd = random.chance(isOld ? 0.6 : 0.2);
  const listKind: ListKind = isOdd ? random.pick(kinds) : 'all';
  return { listKind, listSize: 3 + random.below(listKind.endsWith('later') ? 40 : 12) };
}

/** No more faults, so that everything that can end does. */
export function calm(weather: Weather): void {
  const network = { unsent: 0, lostRequests: 0, lostAnswers: 0, cutAnswers: 0, slowAnswers: 0 };
  const answers = {
    serverErrors: 0,
    busy: 0,
    closed: 0,
    pages: 0,
    stragglers: 0,
    listFails: 0,
    listCut: 0,
    tokenFails: 0,
  };
  Object.assign(weather, {
    crash: 0,
    freeze: 0,
    lostByStore: 0,
    lostJobs: 0,
    ...network,
    ...answers,
  });
}

/** An assumption that a world breaks, or a safeguard that its wiring leaves out. */
export type Breach = (typeof BREACHES)[number];

export const BREACHES = [
  'no settle',
  'one list is enough',
  /** A conflict forgets what the list showed. */
  'conflict forgotten',
  'new ledger reads no list',
  'unreadable list is empty',
  'no circuit breaker',
  /** Lists that cannot tell never leave an order to a person. */
  'no patience',
  'duplicates counted at once',
  /** The script of an intent does not look at pauses, and nobody else does. */
  'pause unnoticed',
  'no freshness check',
  'no intent',
  'no evidence rule',
  'naive retry',
  /** A commit's version is not compared. */
  'no fence',
  /** Now and then the API stores settles too late. */
  'late commits',
  'lagging list',
  'list cut unseen',
  'frozen between check and write',
  /** A list counts as complete without a proof. */
  'no list proof',
  /** A list that lacks an order in doubt need not show one before it and one after it. */
  'no reach of the list',
  'rollback unnoticed',
  /** What people decided is not done again where Redis lost it. */
  'no journal',
  /** Ledger time follows every step of Redis' clock forward. */
  'clock steps unnoticed',
] as const;
