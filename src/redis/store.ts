import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, environmentOf } from '../config/config.ts';
import type { RedisSecrets } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import { isGone } from '../core/regular-file.ts';
import { redisBack, redisTrouble } from '../log/events/delivery.ts';
import type { Log } from '../log/log.ts';
import type { RedisPlace } from './address.ts';
import { connectRedis, type Redis, redisIsCluster, redisRefused } from './connect.ts';
import {
  type COMMAND_WAITS,
  explainRedisError,
  type Steadiness,
  watchSteadiness,
} from './connection-end.ts';
import { type Keys, keysOf } from './keys.ts';
import { changeLedger, type LedgerChange, requireApi } from './ledger-api.ts';
import { openPrivateRedis } from './private-server/private-server.ts';
import { requireOwnData } from './private-server/server-folder.ts';
import { requireRights } from './rights.ts';
import { createRedisTime, type RedisTime } from './time.ts';

/** The store of one environment, the same for the daemon and every command. */
export type Store = AsyncDisposable &
  Steadiness & {
    redis: Redis;
    /** For BullMQ: no automatic pipelines. */
    plain: Redis;
    keys: Keys;
    time: RedisTime;
    /** True for the private server, false for a configured one. */
    private: boolean;
  };

/** What each step builds itself from: the configuration of one environment, its store, and what belongs to the process. */
export type Context = {
  config: Config;
  store: Store;
  /** Names this process in leases. */
  owner: string;
  clock: Clock;
  log: Log;
  /** Aborts when the process has to stop. */
  stopping: AbortSignal;
};

/**
 * `signal`: the process has to stop. It waits no longer for Redis then. `reads`: a command that changes nothing; `begins`: it
 * makes `data` where there is none.
 * `waits`: for a command.
 */
type Deps = {
  clock: Clock;
  log: Log;
  signal?: AbortSignal;
  credentials?: RedisSecrets | undefined;
  reads?: boolean;
  begins?: boolean;
  waits?: typeof COMMAND_WAITS;
  change?: LedgerChange | undefined;
};

/**
 * Opens the configured Redis, or adopts or starts the private one, and refuses one that could lose orders.
 * Throws PoSyncError `redis-…`.
 */
export async function openStore(config: Config, deps: Deps): Promise<Store> {
  const { clock, log, signal, credentials, begins = true, waits } = deps;
  await using resources = new AsyncDisposableStack();
  const isPrivate = hasPrivateRedis(config);
  const place = isPrivate
    ? { address: { url: await openPrivate() } }
    : { address: config.redis, credentials };
  let main: Redis | undefined;
  let isWatched = false;
  const onTrouble = (error: Error) => {
    redisTrouble(log, { reason: error.message });
    if (main !== undefined && !isWatched)
      void reportReturn(main).finally(() => (isWatched = false));
  };
  const keys = keysOf(config.environment, environmentOf(config).numbers);
  const redis = await connect(false);
  main = redis;
  const plain = await connect(true);
  const time = await prepare(place, { redis, keys, config }, deps);
  const kept = resources.move();
  return {
    redis,
    plain,
    keys,
    time,
    private: isPrivate,
    ...watchSteadiness(redis, clock),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };

  async function openPrivate(): Promise<string> {
    if (!begins && (await isWithoutLedger(config))) throw noData(config);
    const server = await openPrivateRedis({
      data: config.data,
      clock,
      log,
      ...(signal ? { signal } : {}),
    });
    return resources.use(server).url;
  }

  async function reportReturn(connection: Redis): Promise<void> {
    isWatched = true;
    const began = clock.monotonic();
    if (await untilWritten(connection, `${keys.prefix}:probe`))
      redisBack(log, { durationMs: clock.monotonic() - began });
  }

  async function connect(isPlain: boolean): Promise<Redis> {
    const connection = await connectRedis(place, {
      plain: isPlain,
      onTrouble,
      probe: `${keys.prefix}:probe`,
      ...waits,
      signal,
    });
    resources.defer(() => quit(connection));
    return connection;
  }
}

/** Milliseconds between two writes that are refused. */
const WRITE_AGAIN = 1_000;

/** Resolves when Redis takes a write: a command waits for a Redis that is away, a full one refuses it. False: the connection ended. */
async function untilWritten(redis: Redis, key: string): Promise<boolean> {
  while (redis.status !== 'end') {
    const isTaken = await redis.set(key, '1', 'PX', WRITE_AGAIN).then(
      () => true,
      () => false,
    );
    if (isTaken) return true;
    await delay(WRITE_AGAIN, undefined, { ref: false });
  }
  return false;
}

/** Whether the configuration names no Redis, so that po-sync starts its own. */
export function hasPrivateRedis({
  redis: { url, sentinels, cluster },
}: Pick<Config, 'redis'>): boolean {
  return url === undefined && sentinels === undefined && cluster === undefined;
}

/** The format of the ledger. Raise it when an older version would misread what a newer one stores. */
const LEDGER_FORMAT = 1;

/** A ledger only ever gets a higher format, also when daemons of several versions start at the same moment. */
const RAISE = `local format, baseUrl, numbers = unpack(redis.call('HMGET', KEYS[1], 'format', 'baseUrl', 'numbers'))
if tonumber(format or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'format', ARGV[1]) end
if not baseUrl then redis.call('HSET', KEYS[1], 'baseUrl', ARGV[2], 'numbers', ARGV[3]) end
return { format, baseUrl, numbers }`;

/**
 * Gives the ledger the format of this version and the API of this configuration, unless the program only reads. Call it about once
 * a second: a newer version, or one with another address, may start at any time. Reads which numbers are separate orders. Throws PoSyncError `ledger-newer` and `ledger-of-another-api`.
 */
export async function requireFormat(
  { redis, keys, config }: Pick<Context, 'config'> & Pick<Store, 'redis' | 'keys'>,
  reads = false,
): Promise<void> {
  const { identity } = keys;
  const api = environmentOf(config);
  const found = reads
    ? redis.hmget(identity, 'format', 'baseUrl', 'numbers')
    : redis.eval(RAISE, 1, identity, LEDGER_FORMAT, api.baseUrl, api.numbers);
  const [text, baseUrl, numbers] = (await found) as (string | null | undefined)[];
  const format = Number(text ?? 0);
  for (const number of await redis.hkeys(keys.numbersApart)) keys.apart.add(number);
  requireApi(config.environment, api, {
    baseUrl: baseUrl ?? undefined,
    numbers: numbers ?? undefined,
  });
  if (format <= LEDGER_FORMAT) return;
  throw new PoSyncError(
    'ledger-newer',
    `A newer version of po-sync writes this ledger (format ${format}; this version reads ${LEDGER_FORMAT}).`,
    { remedy: 'Install the newer version here, too.', facts: { format, known: LEDGER_FORMAT } },
  );
}

/**
 * Throws PoSyncError `redis-refused` when the user lacks a permission, `redis-evicts`, `redis-is-cluster` for a node that
 * works only until the cluster moves its keys, `ledger-newer`, and `ledger-of-another-api`.
 */
async function prepare(
  { address }: RedisPlace,
  ledger: Parameters<typeof requireFormat>[0],
  { clock, reads = false, change }: Pick<Deps, 'clock' | 'reads' | 'change'>,
): Promise<RedisTime> {
  const { redis, keys, config } = ledger;
  try {
    // From INFO, because managed Redis services forbid CONFIG.
    const info = await redis.info();
    refuseEviction(info);
    if (address.cluster === undefined && /^cluster_enabled:1/m.test(info))
      throw redisIsCluster(address);
    if (!reads) await requireRights(redis, keys.prefix);
    if (change !== undefined) await changeLedger(ledger, environmentOf(config), change);
    await requireFormat(ledger, reads);
    return await createRedisTime(redis, keys, clock);
  } catch (error) {
    const known = explainRedisError(error);
    throw known instanceof PoSyncError ? known : redisRefused(address, error);
  }
}

/** `quit` never ends while Redis is not reachable. */
async function quit(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => redis.disconnect());
  // Disconnecting a connection that has already ended would keep the process alive for two seconds.
  else if (redis.status !== 'end') redis.disconnect();
}

function refuseEviction(info: string): void {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  // Some services do not show it; doctor then says that it was not checked.
  if (policy === undefined || policy === 'noeviction') return;
  throw new PoSyncError(
    'redis-evicts',
    `Redis has maxmemory-policy ${policy}: it discards orders when its memory is full.`,
    {
      remedy: 'Set maxmemory-policy noeviction.',
      facts: { policy },
    },
  );
}

/**
 * Whether the ledger is in a private Redis that was never started in `data`: before the first start, or without its volume.
 * Throws PoSyncError `folder-not-private` and `redis-foreign-folder` as a start would.
 */
export async function isWithoutLedger(config: Pick<Config, 'data' | 'redis'>): Promise<boolean> {
  if (!hasPrivateRedis(config) || !(await isGone(path.join(config.data, 'redis')))) return false;
  await requireOwnData(config.data);
  return true;
}

function noData({ data }: Pick<Config, 'data'>): PoSyncError {
  return new PoSyncError(
    'data-missing',
    `There is no ledger in ${data}, but po-sync used an inbox of this configuration before: is its volume not mounted?`,
    {
      remedy:
        'Find or mount the data of before. A start begins a new ledger from the list of the API.',
      facts: { data },
    },
  );
}
