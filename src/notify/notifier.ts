import type { Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { type CircuitBreaker, OPERATOR } from '../deliver/circuit-breaker.ts';
import type { NotTaken } from '../intake/offers.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Store } from '../redis/store.ts';
import {
  batchIsHeld,
  batchIsUnsettled,
  batchNeedsPerson,
  deliveryPaused,
  deliveryResumed,
  fileBecameUnreadable,
  fileChangedLater,
  filesAreNotTaken,
  fileUnreadable,
  type Notice,
  ordersCreatedTwice,
  sourceHeard,
  sourceSilent,
} from './notice.ts';

export type NotifierDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  environment: string;
  sources: readonly Source[];
  breaker: Pick<CircuitBreaker, 'reasons'>;
  batches: Pick<Batches, 'held' | 'find' | 'underWay'>;
  /** The report folder of a batch, and its page where the dashboard has a public address. */
  placesOf: (batch: string) => { report: string; page?: string };
  send: (notice: Notice) => void;
};

/** `startedAt`: when it was taken, by the clock of this host. */
type Heard = Pick<Batch, 'source' | 'startedAt' | 'inspection' | 'isForm'>;

/** A shorter pause is not reported; one that ends automatically often does so within seconds. Milliseconds. */
const SHORTEST_PAUSE = { operator: 2_000, automatic: 10_000 };
/** A report that comes later than this is reported as missing. Milliseconds. */
const SHORTEST_UNSETTLED = 60_000;
/** After this time, heartbeats have named what a daemon cannot take. Milliseconds. */
const HEARTBEATS = 15_000;
/** How long Redis remembers that a batch was reported, in seconds. */
const REMEMBERED = 30 * 86_400;

/**
 * Decides what to report, once across all daemons and restarts: each report is a field in Redis, and the daemon that
 * creates the field sends the notice.
 */
export function createNotifier(deps: NotifierDeps) {
  const { redis, keys } = deps.store;
  const startedAt = deps.clock.monotonic();

  /**
   * Checks all ongoing conditions: pauses, held and unsettled batches, silent sources. `notTaken`: the files that a running
   * daemon could not take for some time.
   */
  async function tick(notTaken: readonly NotTaken[]): Promise<void> {
    // Read first: every daemon must see when a reported condition ends before it checks the current state.
    const reported = await redis.hkeys(keys.notices);
    const reportedAs = (prefix: string) => reported.filter((field) => field.startsWith(prefix));
    await checkPause(reportedAs('paused:'), deps);
    const held = { kind: 'held', names: await deps.batches.held(), least: 0, notice: batchIsHeld } as const;
    await checkBatches(held, reportedAs('held:'), deps);
    const unsettled = {
      kind: 'unsettled',
      names: (await deps.batches.underWay()).flatMap(({ batch, unsettled }) => (unsettled ? [batch] : [])),
      least: SHORTEST_UNSETTLED,
      notice: batchIsUnsettled,
    } as const;
    await checkBatches(unsettled, reportedAs('unsettled:'), deps);
    await checkTwice(reportedAs('twice:'), deps);
    const running = deps.clock.monotonic() - startedAt;
    for (const source of deps.sources) {
      await checkSource(source, reportedAs(`silent:${source.name}:`), running, deps);
      await checkFiles(source, notTaken, reportedAs(`not-taken:${source.name}:`), running, deps);
    }
  }

  /** This daemon settled a batch, or found that the file of one that was done had been changed. */
  async function settled(batch: Batch, needPerson: number): Promise<void> {
    if (needPerson === 0) return;
    const isChange = batch.state === 'done';
    const event = `${isChange ? 'changed' : 'settled'}:${batch.batch}`;
    const isNew = await redis.set(keys.notice(event), '1', 'EX', REMEMBERED, 'NX');
    if (isNew !== 'OK') return;
    const { total, counts } = batch;
    const facts = factsOf(batch, deps);
    if (isChange) deps.send(fileChangedLater({ ...facts, ...(total === undefined ? {} : { orders: total }), counts }));
    else if (total === undefined) deps.send(fileUnreadable(facts));
    else if (batch.unreadable) deps.send(fileBecameUnreadable({ ...facts, orders: total, counts }));
    else deps.send(batchNeedsPerson({ ...facts, orders: total, needPerson, counts }));
  }

  return { tick, ...createHearing(deps), settled };
}

/** Builds what remembers when a source last had a file. */
function createHearing({ store: { redis, keys, time }, clock }: Pick<NotifierDeps, 'store' | 'clock'>) {
  const ledgerTimeOf = (at: number) => time.now() - Math.max(0, clock.now() - at);
  /**
   * A file of the source could be read. A fix file or a correction says only that the source is in use: people send them
   * also while its own file is missing.
   */
  async function heard({ source, startedAt, inspection, isForm }: Heard): Promise<void> {
    const at = ledgerTimeOf(startedAt);
    if (inspection?.isFixFile || isForm) return void (await redis.hsetnx(keys.heard, source, String(at)));
    await rewritten(source, startedAt);
  }
  /** A file of the source came or was written again at this time of this host. */
  async function rewritten(source: string, writtenAt: number): Promise<void> {
    const at = ledgerTimeOf(writtenAt);
    const before = Number((await redis.hget(keys.heard, source)) ?? 0);
    if (at > before) await redis.hset(keys.heard, source, String(at));
  }

  return { heard, rewritten };
}

async function checkPause(reported: readonly string[], deps: NotifierDeps): Promise<void> {
  const { environment, store, send } = deps;
  const [pause] = await deps.breaker.reasons();
  const at = store.time.now();
  if (pause === undefined) {
    if (await ends(reported, deps)) send(deliveryResumed({ environment, at, since: sinceOf(reported) }));
    return;
  }
  const { code, reason, since } = pause;
  const shortest = code === OPERATOR ? SHORTEST_PAUSE.operator : SHORTEST_PAUSE.automatic;
  if (reported.length > 0 || at - since < shortest) return;
  if (await begins(`paused:${since}`, deps)) send(deliveryPaused({ environment, at, reason, since }));
}

/** A state of batches that is reported once it has lasted `least` milliseconds. */
type LastingState = {
  kind: 'held' | 'unsettled';
  names: readonly string[];
  least: number;
  notice: typeof batchIsHeld | typeof batchIsUnsettled;
};

/** When a state has ended, a person released the batch or its report was written: that needs no notice. */
async function checkBatches(
  { kind, names, least, notice }: LastingState,
  reported: readonly string[],
  deps: NotifierDeps,
): Promise<void> {
  const current = new Set<string>();
  for (const name of names) {
    const batch = await deps.batches.find(name);
    const state = batch?.[kind];
    if (batch === undefined || state === undefined) continue;
    const field = `${kind}:${name}:${state.since}`;
    current.add(field);
    const isShort = deps.store.time.now() - state.since < least;
    if (isShort || reported.includes(field) || !(await begins(field, deps))) continue;
    deps.send(notice({ ...factsOf(batch, deps), counts: batch.counts, ...state }));
  }
  const ended = reported.filter((field) => !current.has(field));
  await ends(ended, deps);
}

/** Reported when their number grows; the field is `twice:` with the number that is known. */
async function checkTwice(reported: readonly string[], deps: NotifierDeps): Promise<void> {
  const { environment, store, send } = deps;
  const orders = await store.redis.hlen(store.keys.listedTwice);
  const field = `twice:${orders}`;
  const isMore = reported.every((one) => Number(one.slice('twice:'.length)) < orders);
  if (orders > 0 && !reported.includes(field) && (await begins(field, deps)) && isMore) {
    send(ordersCreatedTwice({ environment, at: store.time.now(), orders }));
  }
  await ends(
    reported.filter((one) => one !== field),
    deps,
  );
}

/** `running`: milliseconds since this daemon started. */
async function checkSource(
  source: Source,
  reported: readonly string[],
  running: number,
  deps: NotifierDeps,
): Promise<void> {
  const { name, expectEvery } = source;
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
  if (running < settlingTime(source) || reported.length > 0) return;
  if (await begins(`silent:${name}:${heardAt}`, deps)) {
    send(sourceSilent({ environment, at, source: name, since: heardAt }));
  }
}

/** Files that become known together are one notice. A daemon that has just started does not know yet which ones it cannot take. */
async function checkFiles(
  source: Source,
  all: readonly NotTaken[],
  reported: readonly string[],
  running: number,
  deps: NotifierDeps,
): Promise<void> {
  const { environment, store, send } = deps;
  const found = all.flatMap(({ source: name, file, reason, remedy }) =>
    name === source.name && file !== undefined ? [{ field: `not-taken:${name}:${file}`, file, reason, remedy }] : [],
  );
  const fresh: typeof found = [];
  for (const one of found) if (!reported.includes(one.field) && (await begins(one.field, deps))) fresh.push(one);
  const [first, ...others] = fresh;
  if (first !== undefined) {
    const reason = [first.reason, first.remedy].filter(Boolean).join(' ');
    const files = [first.file, ...others.map(({ file }) => file)] as const;
    send(filesAreNotTaken({ environment, at: store.time.now(), source: source.name, files, reason }));
  }
  if (running < settlingTime(source) + HEARTBEATS) return;
  const ended = reported.filter((field) => found.every((one) => one.field !== field));
  await ends(ended, deps);
}

/** How long a daemon that starts may still take files that came before. Milliseconds. */
function settlingTime({ poll, stable }: Pick<Source, 'poll' | 'stable'>): number {
  return poll + 10 * stable;
}

function factsOf({ batch, name: file, source }: Batch, { environment, store, placesOf }: NotifierDeps) {
  return { environment, at: store.time.now(), batch, file, source, ...placesOf(batch) };
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
