import type { Random } from './random.ts';

/**
 * What a world may do to the program, all shares of 1 and all times in milliseconds. Everything here keeps to the
 * assumptions A1 to A6 of docs/guarantees.md; what breaks one of them is a `Breach`.
 */
export type Weather = {
  machines: number;
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
  /** Of freezes: the whole machine sleeps, and its monotonic clock with it. */
  suspends: number;
  /** Of what is said to Redis and what it answers. */
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
  /** What one order gets for ever: 500, a cut answer, a success that names another number, a success without a body. */
  stickyOrder: 'none' | 'broken' | 'cut' | 'misnamed' | 'empty';
  /** What the list answers for ever, from some time on. */
  stickyList: 'none' | 'strings' | 'page' | 'error' | 'unauthorized' | 'cut';
  stickyListFrom: number;
  /** What becomes of the ledger once in the middle of it all. */
  rollback: 'none' | 'flush' | 'empty' | 'older';
};

const MINUTE = 60_000;

/** The weather of a seed: each kind of fault is absent in some worlds, rare in many, and heavy in a few. */
export function weatherOf(random: Random): Weather {
  const share = (most: number) => (random.chance(0.5) ? 0 : most * random.next() ** 2);
  const rollback = random.chance(0.15) ? random.pick(['flush', 'empty', 'older'] as const) : 'none';
  const settle = 40_000;
  const commitWithin = random.between(0, 0.45) * settle;
  return {
    machines: 1 + random.below(3),
    orders: 40,
    calmAt: random.between(1, 10) * MINUTE,
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
    // After a rollback only a person could let such an environment go on.
    listForbidden: rollback === 'none' && random.chance(0.05),
    listWithoutItems: random.chance(0.2),
    refusesDuplicates: random.chance(0.3),
    revokes: random.chance(0.3) ? 1 + random.below(3) : 0,
    tokenFails: share(0.3),
    stickyOrder: random.chance(0.2) ? random.pick(['broken', 'cut', 'misnamed', 'empty'] as const) : 'none',
    // After a rollback delivery waits for a list that can be read.
    stickyList:
      rollback === 'none' && random.chance(0.1)
        ? random.pick(['strings', 'page', 'error', 'unauthorized', 'cut'] as const)
        : 'none',
    stickyListFrom: random.between(1, 5) * MINUTE,
    rollback,
  };
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
  Object.assign(weather, { crash: 0, freeze: 0, lostByStore: 0, lostJobs: 0, ...network, ...answers });
}

/** An assumption that a world breaks, or a safeguard that its wiring leaves out. */
export type Breach = (typeof BREACHES)[number];

export const BREACHES = [
  'no settle',
  'one list is enough',
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
  'rollback unnoticed',
] as const;
