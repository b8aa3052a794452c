import { stat } from 'node:fs/promises';
import type { Config, Source } from '../../config/config.ts';
import { fixedFolder } from '../../config/rules/sources.ts';
import { redactedConfig } from '../../config/show.ts';
import { isWebAddress } from '../../config/source-schema.ts';
import { codeOf } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import type { Batch, Batches } from '../../ledger/batches/batches.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { Store } from '../../redis/store.ts';
import { type BatchView, batchJson, unreadableFiles, viewOf } from '../batches/list-batches.ts';
import { type LivingDaemon, livingDaemons } from '../daemon.ts';
import type { OperatorContext } from '../operator-context.ts';
import { readWaits, type WaitGroup } from '../orders/read-waits.ts';
import { canBeTried } from '../orders/wait-of.ts';
import { endOf, pauseJson, type ShownPause } from './pause-delivery.ts';

/** The current state of an environment. Times are milliseconds of the Redis clock. */
export type Status = {
  environment: string;
  baseUrl: string;
  redis: { private: boolean };
  now: number;
  daemons: LivingDaemon[];
  sources: SourceStatus[];
  queue: { waitingJobs: number; unsettledOrders: number; ordersInDoubt: number };
  /** What orders without an outcome wait for, and last the dead letters that wait for a person. */
  waits: WaitGroup[];
  /** Orders with dead letters that wait for a person. */
  deadLetters: number;
  /** Orders that the API's last complete list showed more than once. */
  createdTwice: number;
  /** Batches in progress. */
  batches: BatchView[];
  /** Files that could not be read and were not replaced. */
  unreadable: BatchView[];
  /** Never its value. */
  token: { present: boolean; expiresInMs?: number };
  pauses: ShownPause[];
};

export type SourceStatus = {
  name: string;
  type: Source['type'];
  path: string;
  /** Of the file, or of a pattern's folder. `unreachable`, with the system's error code; `not checked`: an address. */
  state: 'ok' | 'missing' | 'unreachable' | 'not checked';
  code?: string;
  last?: { batch: string; file: string; at: number };
};

const PAGE = 500;

/** How many batches are searched for the last one of a source and for unreadable files. */
const LOOK_BACK = 200;

/** Reads the state of the environment; changes nothing. `countLetters`: counts open dead letters, instead of in every batch. */
export async function readStatus(
  context: OperatorContext,
  countLetters: () => Promise<WaitGroup> = () => openDeadLetters(context.store, context.batches),
): Promise<Status> {
  const { config, store, batches, queue, breaker } = context;
  const { redis, keys, time } = store;
  const newest = newestBatches(batches);
  const [
    daemons,
    waitingJobs,
    unsettled,
    inDoubt,
    waits,
    dead,
    createdTwice,
    underWay,
    unreadable,
    token,
    pauses,
    sources,
  ] = await Promise.all([
    livingDaemons({ redis, keys }),
    queue.waiting(),
    redis.zcard(keys.due),
    redis.zcard(keys.doubt),
    readWaits(context),
    countLetters(),
    context.ledger.listedTwice.count(),
    batches.underWay(),
    newest.then((all) => unreadableFiles(all, context)),
    tokenStatus(store),
    breaker.reasons(),
    newest.then((all) => sourcesOf(config, all)),
  ]);
  return {
    environment: config.environment,
    baseUrl: config.environments[config.environment]?.baseUrl ?? '',
    redis: { private: store.private },
    now: time.now(),
    daemons,
    sources,
    queue: { waitingJobs, unsettledOrders: unsettled + inDoubt, ordersInDoubt: inDoubt },
    waits: dead.orders === 0 ? waits : [...waits, dead],
    deadLetters: dead.orders,
    createdTwice,
    batches: await Promise.all(underWay.map((batch) => viewOf(batch, context))),
    unreadable,
    token,
    pauses: pauses.map((pause) => withTest(pause, waits)),
  };
}

/** Adds whether an automatic pause lasts until an order comes: orders of a held batch, for instance, are not tried. */
export function withTest(pause: Pause, waits: readonly Pick<WaitGroup, 'for'>[]): ShownPause {
  if (endOf(pause) !== 'automatic') return pause;
  return waits.some(({ for: kind }) => canBeTried(kind)) ? pause : { ...pause, waitsForOrder: true };
}

/** The dead letters that wait for a person, over all batches that the store knows. */
async function openDeadLetters({ redis, keys }: Store, batches: Batches): Promise<WaitGroup> {
  let orders = 0;
  let oldest: string | undefined;
  for (let from = 0; ; from += PAGE) {
    const names = await batches.names(from, PAGE);
    const counts = (await Promise.all(names.map((name) => redis.hget(keys.batch(name), 'open')))).map(Number);
    orders += counts.reduce((sum, open) => sum + open, 0);
    // The newest batch comes first.
    oldest = names.findLast((_, i) => (counts[i] ?? 0) > 0) ?? oldest;
    if (names.length >= PAGE) continue;
    const since = oldest && claimTimeOf(oldest);
    return { for: 'person', reason: '', orders, ...(oldest && since ? { oldest: { batch: oldest, since } } : {}) };
  }
}

/** The newest batches first. */
async function newestBatches(batches: Batches): Promise<Batch[]> {
  const found = await Promise.all((await batches.names(0, LOOK_BACK)).map(batches.find));
  return found.filter((batch) => batch !== undefined);
}

async function tokenStatus({ redis, keys }: Store): Promise<Status['token']> {
  const left = await redis.pttl(keys.token);
  return left > 0 ? { present: true, expiresInMs: left } : { present: false };
}

async function sourcesOf(config: Config, newest: readonly Batch[]): Promise<SourceStatus[]> {
  const last = lastBatches(newest);
  const { sources } = redactedConfig(config);
  return Promise.all(
    sources.map(async ({ name, type, path }) => {
      const batch = last.get(name);
      return {
        name,
        type,
        path,
        ...(await checkPath(path)),
        ...(batch ? { last: { batch: batch.batch, file: batch.name, at: batch.startedAt } } : {}),
      };
    }),
  );
}

function lastBatches(newest: readonly Batch[]): Map<string, Batch> {
  const found = new Map<string, Batch>();
  for (const batch of newest) if (!found.has(batch.source)) found.set(batch.source, batch);
  return found;
}

/** An address is not checked: the daemon reports when it is missing. Of a pattern, the folder before its first wildcard is. */
export async function checkPath(path: string): Promise<Pick<SourceStatus, 'state' | 'code'>> {
  if (isWebAddress(path)) return { state: 'not checked' };
  const isThere = await exists(path);
  if (isThere.state !== 'missing' || !/[*?{[]/.test(path)) return isThere;
  return exists(fixedFolder(path));
}

async function exists(path: string): Promise<Pick<SourceStatus, 'state' | 'code'>> {
  try {
    await stat(path);
    return { state: 'ok' };
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR' ? { state: 'missing' } : { state: 'unreachable', code };
  }
}

/** The status in JSON output. */
export function statusJson({ now, daemons, sources, batches, unreadable, pauses, waits, ...rest }: Status) {
  return {
    ...rest,
    now: iso(now),
    daemons: daemons.map((daemon) => ({ ...daemon, since: iso(daemon.since) })),
    sources: sources.map(({ last, ...source }) => ({ ...source, last: last && { ...last, at: iso(last.at) } })),
    batches: batches.map(batchJson),
    unreadable: unreadable.map(batchJson),
    pauses: pauses.map(pauseJson),
    waits: waits.map(({ until, oldest, ...wait }) => ({
      ...wait,
      ...(until === undefined ? {} : { until: iso(until) }),
      ...(oldest === undefined ? {} : { oldest: { ...oldest, since: iso(oldest.since) } }),
    })),
  };
}
