import { startLoop } from '../../core/backoff/loop.ts';
import type { Clock } from '../../core/clock.ts';
import type { Meter } from '../../log/meter.ts';
import { needsPerson, OUTCOMES } from '../../order/outcome.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import type { Store } from '../../redis/store.ts';

/** Milliseconds of one step of the series, and how far the series goes back. */
export const STEP = 5_000;
export const SPAN = 3_600_000;

/** What is counted: orders that were accepted or need a person, tokens that were issued, and requests for one that failed. */
export const COUNTED = ['accepted', 'needPerson', 'tokens', 'tokenFailures'] as const;

/** What one daemon counted in one step. `times`: bucket (see `bucketOf`) → answers to a create request. */
export type Counts = Record<(typeof COUNTED)[number], number> & { times: Record<string, number> };

/** A step in which nothing was counted. */
export const NOTHING: Readonly<Omit<Counts, 'times'>> = {
  accepted: 0,
  needPerson: 0,
  tokens: 0,
  tokenFailures: 0,
};

/** What all daemons share, as one of them saw it after the step. */
export type Levels = { unsettled: number; inDoubt: number; waitingJobs: number };

/** One entry of the stream. `at`: the start of the step, ledger time in milliseconds. */
export type PaceEntry = Counts & { at: number; levels?: Levels };

export type Pace = ReturnType<typeof createPace>;

/** Milliseconds between two checks of whether a step has ended. */
const PAUSE = 1_000;

/**
 * What the plots of the dashboard show. Every daemon counts in steps of five seconds and adds each step to a stream in
 * Redis, which keeps an hour. What a daemon counts while Redis is not reachable is added later.
 */
export function createPace(store: Store) {
  const counts = createCounts(store);
  return {
    counted: (meter: Meter) => counting(meter, counts.current),
    /** Adds each step when it has ended, until disposed. */
    record(queue: Waiting, clock: Clock, onTrouble: (error: Error) => void): AsyncDisposable {
      const { addEnded, addRest } = createWriter(store, queue, counts);
      const loop = startLoop(addEnded, { pause: PAUSE, clock, onTrouble });
      return {
        async [Symbol.asyncDispose]() {
          await loop[Symbol.asyncDispose]();
          await addRest().catch(onTrouble);
        },
      };
    },
  };
}

/** What was counted and is not in Redis yet, by step. */
function createCounts({ time }: Pick<Store, 'time'>) {
  const steps = new Map<number, Counts>();

  function of(at: number): Counts {
    const counts = steps.get(at) ?? { ...NOTHING, times: {} };
    steps.set(at, counts);
    const [oldest = at] = steps.keys();
    if (at - oldest > SPAN) steps.delete(oldest);
    return counts;
  }

  return { steps, of, current: () => of(stepAt(time.now())) };
}

/** Counts what a meter counts. */
function counting(meter: Meter, current: () => Counts): Meter {
  return {
    ...meter,
    request(operation, status, ms) {
      meter.request(operation, status, ms);
      if (operation !== 'create' || status === undefined) return;
      const { times } = current();
      const bucket = bucketOf(ms);
      times[bucket] = (times[bucket] ?? 0) + 1;
    },
    token(result) {
      meter.token(result);
      current()[result === 'issued' ? 'tokens' : 'tokenFailures'] += 1;
    },
    settled(batch, outcome, orders, ms) {
      meter.settled(batch, outcome, orders, ms);
      if (outcome === 'accepted') current().accepted += orders;
      else if (OUTCOMES.some((one) => one === outcome && needsPerson(one)))
        current().needPerson += orders;
    },
  };
}

type Waiting = Pick<OrderQueue, 'waiting'>;

function createWriter(
  { redis, keys, time }: Store,
  queue: Waiting,
  { steps, of }: ReturnType<typeof createCounts>,
) {
  /** The step in which the levels were read last. */
  let seen = stepAt(time.now());
  /** The time of the clock of Redis in the last entry, by which old entries are removed. */
  let newest = SPAN;

  /** Adds the steps that have ended, with the levels after the last one. */
  async function addEnded(): Promise<void> {
    const now = stepAt(time.now());
    if (now === seen || redis.status !== 'ready') return;
    const levels = await readLevels();
    const last = now - STEP;
    of(last);
    await add(
      [...steps]
        .filter(([at]) => at < now)
        .map(([at, one]) => ({ at, ...one, ...(at === last && { levels }) })),
    );
    seen = now;
  }

  async function readLevels(): Promise<Levels> {
    const [due, inDoubt, waitingJobs] = await Promise.all([
      redis.zcard(keys.due),
      redis.zcard(keys.doubt),
      queue.waiting(),
    ]);
    return { unsettled: due + inDoubt, inDoubt, waitingJobs };
  }

  async function add(entries: readonly PaceEntry[]): Promise<void> {
    const ids = await Promise.all(
      entries.map((one) =>
        redis.xadd(keys.pace, 'MINID', '~', newest - SPAN, '*', 'step', JSON.stringify(one)),
      ),
    );
    for (const { at } of entries) steps.delete(at);
    newest = Number(ids.at(-1)?.split('-', 1)[0] ?? newest);
  }

  /** Adds also the step in progress; another daemon, or the next start, adds the rest of it. */
  async function addRest(): Promise<void> {
    if (redis.status === 'ready') await add([...steps].map(([at, one]) => ({ at, ...one })));
  }

  return { addEnded, addRest };
}

/** The start of the step that contains a time. */
export function stepAt(ms: number): number {
  return ms - (ms % STEP);
}

/** Each bucket ends at this multiple of the one before: a quantile is exact to 10 %. */
const GROWTH = 1.1;

/** The bucket of a duration in milliseconds. */
export function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH));
}

/** The duration in milliseconds that a share of all does not exceed; undefined without any. */
export function quantile(buckets: ReadonlyMap<number, number>, share: number): number | undefined {
  let left = share * [...buckets.values()].reduce((sum, count) => sum + count, 0);
  if (left === 0) return undefined;
  const ends = [...buckets].sort(([a], [b]) => a - b);
  for (const [bucket, count] of ends) {
    left -= count;
    if (left <= 0) return GROWTH ** bucket;
  }
  return GROWTH ** (ends.at(-1)?.[0] ?? 0);
}
