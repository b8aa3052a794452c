import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch, Batches } from '../ledger/batches.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import {
  batchIsHeld,
  batchNeedsPerson,
  deliveryGoesOn,
  deliveryPauses,
  fileUnreadable,
  type Notice,
  sourceHeard,
  sourceSilent,
} from './notice.ts';

export type NotifierDeps = {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: RedisTime;
  environment: string;
  sources: readonly Source[];
  breaker: Pick<CircuitBreaker, 'reasons'>;
  batches: Pick<Batches, 'held' | 'find'>;
  /** The report folder of a batch. */
  reportOf(batch: string): string;
  tell: (notice: Notice) => void;
};

/** A pause that is over sooner wakes nobody. */
const PASSING = 2_000;
/** How long it is remembered that a batch was told, in seconds. */
const REMEMBERED = 30 * 86_400;

/**
 * Sees what is to be told, once over all daemons and restarts: what was told stands in Redis, and whoever writes it
 * there is the one that tells.
 */
export function createNotifier(deps: NotifierDeps) {
  const { redis, keys, clock, time, environment, breaker, batches, tell } = deps;
  const began = clock.monotonic();

  /** Looks at everything that lasts: pauses, held batches, silent sources. */
  async function tick(): Promise<void> {
    // Read before the rest: what is told and then found over is over, for every daemon alike.
    const told = await redis.hkeys(keys.notices);
    const begun = (prefix: string) => told.filter((field) => field.startsWith(prefix));
    await lookAtGate(begun('paused:'));
    await lookAtHeld(begun('held:'));
    for (const source of deps.sources) await lookAtSource(source, begun(`silent:${source.name}:`));
  }

  async function lookAtGate(told: readonly string[]): Promise<void> {
    const [pause] = await breaker.reasons();
    const at = time.now();
    if (pause === undefined) {
      if (await over(told)) tell(deliveryGoesOn({ environment, at, since: sinceOf(told) }));
    } else if (told.length === 0 && at - pause.since >= PASSING && (await begins(`paused:${pause.since}`))) {
      tell(deliveryPauses({ environment, at, reason: pause.reason, since: pause.since }));
    }
  }

  async function lookAtHeld(told: readonly string[]): Promise<void> {
    const still = new Set<string>();
    for (const name of await batches.held()) {
      const batch = await batches.find(name);
      if (batch?.held === undefined) continue;
      const field = `held:${name}:${batch.held.since}`;
      still.add(field);
      if (told.includes(field) || !(await begins(field))) continue;
      tell(batchIsHeld({ ...factsOf(batch), counts: batch.counts, ...batch.held }));
    }
    // A person released it, who need not be told.
    await over(told.filter((field) => !still.has(field)));
  }

  async function lookAtSource(source: Source, told: readonly string[]): Promise<void> {
    const { name, expectEvery, stable, poll } = source;
    if (expectEvery === undefined) return;
    const at = time.now();
    // One that was never heard counts from the first daemon that listened.
    await redis.hsetnx(keys.heard, name, String(at));
    const heardAt = Number(await redis.hget(keys.heard, name));
    if (at - heardAt <= expectEvery) {
      if (await over(told)) tell(sourceHeard({ environment, at, source: name, since: sinceOf(told) }));
      return;
    }
    // What came while no daemon ran is about to be taken.
    if (clock.monotonic() - began < poll + 10 * stable) return;
    if (told.length === 0 && (await begins(`silent:${name}:${heardAt}`))) {
      tell(sourceSilent({ environment, at, source: name, since: heardAt }));
    }
  }

  /** A file of the source was taken, by this host's clock at `claimedAt`. */
  async function heard(source: string, claimedAt: number): Promise<void> {
    const at = time.now() - Math.max(0, clock.now() - claimedAt);
    const before = Number((await redis.hget(keys.heard, source)) ?? 0);
    if (at > before) await redis.hset(keys.heard, source, String(at));
  }

  /** A batch was settled here. */
  async function settled(batch: Batch, needPerson: number): Promise<void> {
    if (needPerson === 0) return;
    const fresh = await redis.set(keys.notice(`settled:${batch.batch}`), '1', 'EX', REMEMBERED, 'NX');
    if (fresh !== 'OK') return;
    const { total, counts } = batch;
    if (total === undefined) tell(fileUnreadable(factsOf(batch)));
    else tell(batchNeedsPerson({ ...factsOf(batch), orders: total, needPerson, counts }));
  }

  function factsOf({ batch, source }: Batch) {
    return { environment, at: time.now(), batch, source, report: deps.reportOf(batch) };
  }

  async function begins(field: string): Promise<boolean> {
    return (await redis.hsetnx(keys.notices, field, String(time.now()))) === 1;
  }

  async function over(fields: readonly string[]): Promise<boolean> {
    return fields.length > 0 && (await redis.hdel(keys.notices, ...fields)) > 0;
  }

  return { tick, heard, settled };
}

/** The time at the end of a field such as `paused:1763709300000`. */
function sinceOf([field = '']: readonly string[]): number {
  return Number(field.slice(field.lastIndexOf(':') + 1));
}
