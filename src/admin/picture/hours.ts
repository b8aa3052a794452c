import { type Loop, startLoop } from '../../core/backoff/loop.ts';
import type { Clock } from '../../core/clock.ts';
import type { Meter } from '../../log/meter.ts';
import { needsPerson, OUTCOMES } from '../../order/outcome.ts';
import type { Store } from '../../redis/store.ts';

export const HOUR = 3_600_000;

/** Seconds that Redis keeps an hour. */
const KEPT = 8 * 24 * 3_600;
/** Milliseconds until what is counted is in Redis. */
const PAUSE = 5_000;

/** What all daemons did in one hour. `at`: its start; `median` and `slowest`: milliseconds of an answer to a create request. */
export type Hour = {
  at: number;
  accepted: number;
  needPerson: number;
  median?: number | undefined;
  slowest?: number | undefined;
};

export type Hours = ReturnType<typeof createHours>;

/** Counts orders and answers by the hour for the picture of the overview; Redis adds up what all daemons count. */
export function createHours({ redis, keys, time }: Pick<Store, 'redis' | 'keys' | 'time'>) {
  let counted = new Map<number, Map<string, number>>();
  let shown: Hour[] = [];

  function add(at: number, field: string, count: number): void {
    const hour = counted.get(at) ?? new Map<string, number>();
    counted.set(at, hour.set(field, (hour.get(field) ?? 0) + count));
  }

  async function store(): Promise<void> {
    if (redis.status !== 'ready' || counted.size === 0) return;
    const taken = counted;
    counted = new Map();
    const all = redis.multi();
    for (const [at, hour] of taken) {
      for (const [field, count] of hour) all.hincrby(keys.hour(at), field, count);
      all.expire(keys.hour(at), KEPT);
    }
    await all.exec().catch((error: unknown) => {
      for (const [at, hour] of taken) for (const [field, count] of hour) add(at, field, count);
      throw error;
    });
  }

  /** The last hours, the current one last; while Redis is not reachable as they were read last. */
  async function last(count: number): Promise<Hour[]> {
    const now = hourOf(time.now());
    const hours = Array.from({ length: count }, (_, i) => now - (count - 1 - i) * HOUR);
    const read = async (at: number) => summed(at, await redis.hgetall(keys.hour(at)));
    if (redis.status !== 'ready') return shown;
    const found = await Promise.all(hours.map(read));
    shown = found;
    return found;
  }

  return {
    counted: (meter: Meter) =>
      counting(meter, (field, count) => add(hourOf(time.now()), field, count)),
    last,
    /** Stores what is counted until disposed. */
    record(clock: Clock, onTrouble: (error: Error) => void): AsyncDisposable {
      const loop: Loop = startLoop(store, { pause: PAUSE, clock, onTrouble });
      return {
        async [Symbol.asyncDispose]() {
          await loop[Symbol.asyncDispose]();
          await store().catch(onTrouble);
        },
      };
    },
  };
}

const hourOf = (ms: number): number => ms - (ms % HOUR);

function counting(meter: Meter, add: (field: string, count: number) => void): Meter {
  return {
    ...meter,
    request(operation, status, ms) {
      meter.request(operation, status, ms);
      if (operation === 'create' && status !== undefined) add(`${ANSWER}${bucketOf(ms)}`, 1);
    },
    settled(batch, outcome, orders, ms) {
      meter.settled(batch, outcome, orders, ms);
      if (outcome === 'accepted') add('accepted', orders);
      else if (OUTCOMES.some((one) => one === outcome && needsPerson(one)))
        add('needPerson', orders);
    },
  };
}

/** Begins the field of answers of one duration. */
const ANSWER = 'ms ';

function summed(at: number, fields: Readonly<Record<string, string>>): Hour {
  const answers = Object.entries(fields).flatMap(([name, count]): [number, number][] =>
    name.startsWith(ANSWER) ? [[Number(name.slice(ANSWER.length)), Number(count)]] : [],
  );
  return {
    at,
    accepted: Number(fields['accepted'] ?? 0),
    needPerson: Number(fields['needPerson'] ?? 0),
    median: quantile(answers, 0.5),
    slowest: quantile(answers, 0.95),
  };
}

/** Each bucket ends at this multiple of the one before: a quantile is exact to 10 %. */
const GROWTH = 1.1;

function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH));
}

/** The duration in milliseconds that a share of all does not exceed; undefined without any. */
function quantile(buckets: readonly [bucket: number, count: number][], share: number) {
  let left = share * buckets.reduce((sum, [, count]) => sum + count, 0);
  const found = buckets
    .toSorted(([a], [b]) => a - b)
    .find(([, count]) => {
      left -= count;
      return left <= 0;
    });
  return found && Math.round(GROWTH ** found[0]);
}
