import { stat } from 'node:fs/promises';
import type { Config, Source } from '../config/config.ts';
import { redactedConfig } from '../config/show.ts';
import { codeOf } from '../core/errors.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import type { Batch, Batches } from '../ledger/batches.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { allNames } from './find-batch.ts';
import { type LivingDaemon, livingDaemons } from './heartbeat.ts';

/** How an environment stands. Times are milliseconds of Redis' clock. */
export type Status = {
  environment: string;
  baseUrl: string;
  redis: { private: boolean };
  now: number;
  daemons: LivingDaemon[];
  sources: SourceStatus[];
  queue: { waitingJobs: number; unsettledOrders: number; ordersInDoubt: number };
  /** Orders with dead letters that wait for a person. */
  deadLetters: number;
  batches: Batch[];
  /** Never its value. */
  token: { present: boolean; expiresInMs?: number };
  pauses: { code: string; reason: string; since: number; held: boolean }[];
};

export type SourceStatus = {
  name: string;
  type: Source['type'];
  path: string;
  /** `unreachable` with the system's own code; an address is not looked at. */
  state: 'ok' | 'missing' | 'unreachable' | 'not looked at';
  code?: string;
  last?: { batch: string; file: string; at: number };
};

export type StatusDeps = {
  config: Config;
  isPrivate: boolean;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  batches: Batches;
  queue: OrderQueue;
  breaker: CircuitBreaker;
};

const PAGE = 500;

/** How far back a source's last batch is looked for. */
const LOOK_BACK = 200;

/** Reads how the environment stands; changes nothing. */
export async function readStatus(deps: StatusDeps): Promise<Status> {
  const { config, redis, keys, time, batches, queue, breaker } = deps;
  const [daemons, waitingJobs, unsettled, inDoubt, deadLetters, underWay, token, pauses, sources] = await Promise.all([
    livingDaemons({ redis, keys }),
    queue.waiting(),
    redis.zcard(keys.due),
    redis.zcard(keys.doubt),
    openDeadLetters(redis, keys, batches),
    batches.underWay(),
    tokenStatus(redis, keys),
    breaker.reasons(),
    sourcesOf(config, batches),
  ]);
  return {
    environment: config.environment,
    baseUrl: config.environments[config.environment]?.baseUrl ?? '',
    redis: { private: deps.isPrivate },
    now: time.now(),
    daemons,
    sources,
    queue: { waitingJobs, unsettledOrders: unsettled + inDoubt, ordersInDoubt: inDoubt },
    deadLetters,
    batches: underWay,
    token,
    pauses,
  };
}

/** How many dead letters wait for a person, over all batches that are remembered. */
async function openDeadLetters(redis: Redis, keys: Keys, batches: Batches): Promise<number> {
  let open = 0;
  for (let from = 0; ; from += PAGE) {
    const names = await batches.names(from, PAGE);
    const counts = await Promise.all(names.map((name) => redis.hget(keys.batch(name), 'open')));
    open += counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
    if (names.length < PAGE) return open;
  }
}

async function tokenStatus(redis: Redis, keys: Keys): Promise<Status['token']> {
  const left = await redis.pttl(keys.token);
  return left > 0 ? { present: true, expiresInMs: left } : { present: false };
}

async function sourcesOf(config: Config, batches: Batches): Promise<SourceStatus[]> {
  const last = await lastBatches(new Set(config.sources.map(({ name }) => name)), batches);
  const { sources } = redactedConfig(config);
  return Promise.all(
    sources.map(async ({ name, type, path }) => {
      const batch = last.get(name);
      return {
        name,
        type,
        path,
        ...(await looked(path)),
        ...(batch ? { last: { batch: batch.batch, file: batch.name, at: batch.startedAt } } : {}),
      };
    }),
  );
}

async function lastBatches(wanted: Set<string>, batches: Batches): Promise<Map<string, Batch>> {
  const found = new Map<string, Batch>();
  let looks = 0;
  for await (const name of allNames(batches)) {
    looks += 1;
    if (found.size === wanted.size || looks > LOOK_BACK) break;
    const batch = await batches.find(name);
    if (batch && wanted.has(batch.source) && !found.has(batch.source)) found.set(batch.source, batch);
  }
  return found;
}

/** Patterns and addresses are not looked at: the daemon tells when they are away. */
async function looked(path: string): Promise<Pick<SourceStatus, 'state' | 'code'>> {
  if (/[*?{[]/.test(path) || /^https?:/.test(path)) return { state: 'not looked at' };
  try {
    await stat(path);
    return { state: 'ok' };
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR' ? { state: 'missing' } : { state: 'unreachable', code };
  }
}
