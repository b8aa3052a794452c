import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Store } from '../redis/store.ts';
import {
  batchIsHeld,
  batchNeedsPerson,
  deliveryPaused,
  deliveryResumed,
  fileBecameUnreadable,
  fileUnreadable,
  type Notice,
  sourceHeard,
  sourceSilent,
} from './notice.ts';

export type NotifierDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  environment: string;
  sources: readonly Source[];
  breaker: Pick<CircuitBreaker, 'reasons'>;
  batches: Pick<Batches, 'held' | 'find'>;
  /** The report folder of a batch. */
  reportOf: (batch: string) => string;
  send: (notice: Notice) => void;
};

/** A shorter pause is not reported. Milliseconds. */
const SHORTEST_PAUSE = 2_000;
/** How long Redis remembers that a batch was reported, in seconds. */
const REMEMBERED = 30 * 86_400;

/**
 * Decides what to report, once across all daemons and restarts: each report is a field in Redis, and the daemon that
 * creates the field sends the notice.
 */
export function createNotifier(deps: NotifierDeps) {
  const { redis, keys, time } = deps.store;
  const startedAt = deps.clock.monotonic();

  /** Checks all ongoing conditions: pauses, held batches, silent sources. */
  async function tick(): Promise<void> {
    // Read first: every daemon must see when a reported condition ends before it checks the current state.
    const reported = await redis.hkeys(keys.notices);
    const reportedAs = (prefix: string) => reported.filter((field) => field.startsWith(prefix));
    await checkPause(reportedAs('paused:'), deps);
    await checkHeldBatches(reportedAs('held:'), deps);
    for (const source of deps.sources) {
      await checkSource(source, reportedAs(`silent:${source.name}:`), deps.clock.monotonic() - startedAt, deps);
    }
  }

  /** A file of the source was taken at `claimedAt`, by the clock of this host. */
  async function heard(source: string, claimedAt: number): Promise<void> {
    const at = time.now() - Math.max(0, deps.clock.now() - claimedAt);
    const before = Number((await redis.hget(keys.heard, source)) ?? 0);
    if (at > before) await redis.hset(keys.heard, source, String(at));
  }

  /** This daemon settled a batch. */
  async function settled(batch: Batch, needPerson: number): Promise<void> {
    if (needPerson === 0) return;
    const isNew = await redis.set(keys.notice(`settled:${batch.batch}`), '1', 'EX', REMEMBERED, 'NX');
    if (isNew !== 'OK') return;
    const { total, counts } = batch;
    const facts = factsOf(batch, deps);
    if (total === undefined) deps.send(fileUnreadable(facts));
    else if (batch.unreadable) deps.send(fileBecameUnreadable({ ...facts, orders: total, counts }));
    else deps.send(batchNeedsPerson({ ...facts, orders: total, needPerson, counts }));
  }

  return { tick, heard, settled };
}

async function checkPause(reported: readonly string[], deps: NotifierDeps): Promise<void> {
  const { environment, store, send } = deps;
  const [pause] = await deps.breaker.reasons();
  const at = store.time.now();
  if (pause === undefined) {
    if (await ends(reported, deps)) send(deliveryResumed({ environment, at, since: sinceOf(reported) }));
    return;
  }
  const { reason, since } = pause;
  if (reported.length > 0 || at - since < SHORTEST_PAUSE) return;
  if (await begins(`paused:${since}`, deps)) send(deliveryPaused({ environment, at, reason, since }));
}

async function checkHeldBatches(reported: readonly string[], deps: NotifierDeps): Promise<void> {
  const current = new Set<string>();
  for (const name of await deps.batches.held()) {
    const batch = await deps.batches.find(name);
    if (batch?.held === undefined) continue;
    const field = `held:${name}:${batch.held.since}`;
    current.add(field);
    if (reported.includes(field) || !(await begins(field, deps))) continue;
    deps.send(batchIsHeld({ ...factsOf(batch, deps), counts: batch.counts, ...batch.held }));
  }
  // A person released these; that needs no notice.
  const released = reported.filter((field) => !current.has(field));
  await ends(released, deps);
}

/** `running`: milliseconds since this daemon started. */
async function checkSource(
  { name, expectEvery, stable, poll }: Source,
  reported: readonly string[],
  running: number,
  deps: NotifierDeps,
): Promise<void> {
  if (expectEvery === undefined) return;
  const { environment, send } = deps;
  const { redis, keys, time } = deps.store;
  const at = time.now();
  // A source that never had a file counts from the first daemon that watched it.
  await redis.hsetnx(keys.heard, name, String(at));
  const heardAt = Number(await redis.hget(keys.heard, name));
  if (at - heardAt <= expectEvery) {
    if (await ends(reported, deps)) send(sourceHeard({ environment, at, source: name, since: sinceOf(reported) }));
    return;
  }
  // The daemon may still take files that came before it started.
  if (running < poll + 10 * stable || reported.length > 0) return;
  if (await begins(`silent:${name}:${heardAt}`, deps)) {
    send(sourceSilent({ environment, at, source: name, since: heardAt }));
  }
}

function factsOf({ batch, source }: Batch, { environment, store, reportOf }: NotifierDeps) {
  return { environment, at: store.time.now(), batch, source, report: reportOf(batch) };
}

async function begins(field: string, { store: { redis, keys, time } }: NotifierDeps): Promise<boolean> {
  return (await redis.hsetnx(keys.notices, field, String(time.now()))) === 1;
}

async function ends(fields: readonly string[], { store: { redis, keys } }: NotifierDeps): Promise<boolean> {
  return fields.length > 0 && (await redis.hdel(keys.notices, ...fields)) > 0;
}

/** The time at the end of a field such as `paused:1763709300000`. */
function sinceOf([field = '']: readonly string[]): number {
  return Number(field.slice(field.lastIndexOf(':') + 1));
}
