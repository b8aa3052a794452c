import { Redis } from 'ioredis';
import { growingWait } from '../core/backoff/backoff.ts';
import { codeOf, interruption, PoSyncError, toError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import { explainConnection } from '../core/network-error.ts';
import {
  NO_ANSWER,
  optionsFor,
  type PlaceOptions,
  placeText,
  type RedisAddress,
  type RedisPlace,
  startRemedy,
  withoutPasswords,
} from './address.ts';
import { onAbort, onLoss, replyRemedy, untilAway } from './connection-end.ts';

/** A connection; one type for the entire program. */
export type { Redis } from 'ioredis';

/** How long Redis may stay away at start, in milliseconds (docs/how-it-works.md, "Exit codes"). */
const REACHABLE_WITHIN = 10_000;

/** How often it is looked whether Redis still loads its data, in milliseconds. */
const LOOK = 500;

const RECONNECT = { initial: 100, max: 1_000 };
/** After this long without trouble, the waits between connections begin anew. Milliseconds. */
const QUIET = 60_000;

/** A server that takes no writes for now: a replica, also when a script meets it, or a primary without the replicas that it needs. */
const TAKES_NO_WRITES = /\b(READONLY|NOREPLICAS)\b/;
/** A node that another one replaced, or a cluster without one for this slot. */
const REDIRECTS = /\b(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN)\b/;
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password)/;

type ConnectOptions = {
  /** Called each time that Redis is not reachable or refuses. */
  onTrouble?: (error: Error) => void;
  /** For connections that block or that BullMQ drives: no automatic pipelines. */
  plain?: boolean;
  /** A key to try a write on; without it only reading is tried. */
  probe?: string;
  /** A key of the environment, if there is no probe: it selects the node of a cluster. */
  key?: string;
  /** Milliseconds, instead of ten seconds. */
  within?: number;
  /** Milliseconds after which a refused connection ends the wait: for commands, whose user waits. */
  refusedWithin?: number | undefined;
  /** Milliseconds after which a connection that was lost ends, and with it the commands that wait: for commands, too. */
  lostWithin?: number | undefined;
  /** Ends the wait for Redis, and later the connection itself if Redis is not reachable then. */
  signal?: AbortSignal | undefined;
};

/**
 * Opens a connection that survives outages and failovers: commands wait for a writable Redis instead of failing.
 * After `signal`, a Redis that does not answer for five seconds ends this connection and its duplicates: commands fail then,
 * and `explainRedisError` says why. So does a loss that takes longer than `lostWithin`.
 * Throws PoSyncError `redis-unreachable` when Redis does not answer within ten seconds, `redis-read-only` when it
 * answers as a replica for that long, `redis-refused` when user, password or permissions do not fit, `redis-is-cluster`
 * when a node of a cluster is configured as if it were the only server, and `interrupted`.
 */
export async function connectRedis(
  where: string | RedisPlace,
  options: ConnectOptions = {},
): Promise<Redis> {
  const place = typeof where === 'string' ? { address: { url: where } } : where;
  const { address } = place;
  const redact = withoutPasswords(place);
  const trouble = createTrouble((error) => options.onTrouble?.(redact(error)));
  let readOnly = 0;
  let isGivenUp = false;
  const redis = createRedis(address.url, {
    ...optionsFor(place, options.probe ?? options.key ?? ''),
    connectionName: 'po-sync',
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableAutoPipelining: options.plain !== true,
    // Duplicates share this closure.
    retryStrategy: (times) =>
      isGivenUp ? null : growingWait(Math.max(times, readOnly), RECONNECT),
    // After a failover the address leads to the new primary: reconnect and send the command again.
    reconnectOnError: (error) => {
      if (!isPassing(error, address)) return false;
      readOnly = trouble.isQuiet() ? 1 : readOnly + 1;
      trouble.report(error);
      return 2;
    },
    // A silent network swallows replies without closing; must stay above BullMQ's 11 s of blocking.
    socketTimeout: 15_000,
    connectTimeout: 5_000,
    maxLoadingRetryTime: LOOK,
    showFriendlyErrorStack: false,
  });
  redis.on('error', (error: unknown) => trouble.report(toError(error)));
  await reach(redis, place, options, trouble);
  // BullMQ never recovers from a lazy connection that is lost before it is ready: so its duplicates connect at once.
  redis.options.lazyConnect = false;
  const giveUp = () => {
    isGivenUp = true;
    // A disconnect between two attempts would cancel the next one, and with it the end of waiting commands.
    if (redis.status !== 'reconnecting') redis.disconnect();
  };
  onAbort(options.signal, async () => {
    await untilAway(redis);
    giveUp();
  });
  if (options.lostWithin !== undefined)
    onLoss(redis, options.lostWithin, () => tryOut(redis, options.probe), giveUp);
  return redis;
}

/** ioredis reads a Redis URL and the path of a socket, but not a `unix:` URL. */
function createRedis(url: string | undefined, options: PlaceOptions): Redis {
  return url === undefined || url.startsWith('unix:')
    ? new Redis(options)
    : new Redis(url, options);
}

function isPassing(error: Error, { cluster }: RedisAddress): boolean {
  return (
    TAKES_NO_WRITES.test(error.message) || (cluster !== undefined && REDIRECTS.test(error.message))
  );
}

/** Remembers the last error. */
function createTrouble(onTrouble: (error: Error) => void) {
  let last = new Error(NO_ANSWER);
  let seen = Number.NEGATIVE_INFINITY;
  return {
    last: () => last,
    isQuiet: () => performance.now() - seen > QUIET,
    report(error: Error): void {
      last = error;
      seen = performance.now();
      onTrouble(error);
    },
  };
}

async function reach(
  redis: Redis,
  place: RedisPlace,
  options: ConnectOptions,
  { last, report }: ReturnType<typeof createTrouble>,
): Promise<void> {
  const { address } = place;
  const redact = withoutPasswords(place);
  const { probe, within = REACHABLE_WITHIN, refusedWithin = within, signal } = options;
  const timers: NodeJS.Timeout[] = [];
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(unreachable(place, redact(last())));
    timers.push(setTimeout(giveUp, within));
    timers.push(setTimeout(() => void (isAbsent(last()) && giveUp()), refusedWithin));
    timers.push(setInterval(() => void loadingOf(redis).then((it) => it && report(it)), LOOK));
  });
  const refused = new Promise<never>((_, reject) => {
    redis.on('error', (error: unknown) => {
      if (REFUSED.test(toError(error).message))
        reject(redisRefused(address, redact(toError(error))));
    });
  });
  const interrupted = new Promise<never>((_, reject) => {
    onAbort(signal, async () => reject(interruption('Interrupted while waiting for Redis.')));
  });
  try {
    redis.connect().catch(() => undefined);
    await Promise.race([tryOut(redis, probe), late, refused, interrupted]);
  } catch (error) {
    redis.disconnect();
    if (error instanceof PoSyncError) throw error;
    throw redisRefused(address, redact(toError(error)));
  } finally {
    timers.forEach(clearTimeout);
  }
}

/** That Redis loads its data, in its own words: until then ioredis waits without any. */
async function loadingOf(redis: Redis): Promise<Error | undefined> {
  if (redis.status !== 'connect') return undefined;
  const info = await redis.info('persistence').catch(() => '');
  return /^loading:1/m.test(info) ? new Error('LOADING Redis is loading its data') : undefined;
}

/** Nothing listens at the address, and nobody but a person changes that; a slow server or network shows another error. */
function isAbsent(error: Error): boolean {
  return ['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '');
}

async function tryOut(redis: Redis, probe: string | undefined): Promise<void> {
  await redis.ping();
  if (probe !== undefined)
    await redis.eval("return redis.call('SET', KEYS[1], '1', 'PX', 1000)", 1, probe);
}

function unreachable({ address, credentials }: RedisPlace, cause: Error): PoSyncError {
  const place = placeText(address);
  const said = withoutStop(cause.message);
  if (TAKES_NO_WRITES.test(said))
    return new PoSyncError('redis-read-only', `Redis at ${place} takes no writes: ${said}.`, {
      remedy:
        address.url === undefined
          ? 'Wait for the failover to end, or correct the state of its servers.'
          : 'Set redis.url to the primary, which needs as many replicas as min-replicas-to-write.',
      cause,
    });
  const explained = explainConnection(cause, place);
  if (explained instanceof PoSyncError && explained !== cause)
    return new PoSyncError('redis-unreachable', `Redis does not answer: ${explained.message}`, {
      remedy: (explained.remedy ?? '').replace(/\btls\./g, 'redis.tls.'),
      cause,
    });
  return new PoSyncError(
    'redis-unreachable',
    `Redis at ${place} does not answer: ${reason(cause)}.`,
    { remedy: startRemedy(address, cause, credentials?.tls), cause },
  );
}

/** The error for a Redis that answers, but refuses what po-sync needs. */
export function redisRefused(address: RedisAddress, cause: unknown): PoSyncError {
  const said = toError(cause).message;
  if (REDIRECTS.test(said)) return redisIsCluster(address, cause);
  const message = `Redis at ${placeText(address)} refuses a command: ${withoutStop(said)}.`;
  return new PoSyncError('redis-refused', message, {
    remedy: replyRemedy(said) ?? 'Look into the log of Redis.',
    cause,
  });
}

/** The error for a node of a cluster that is configured as if it were the only server. */
export function redisIsCluster(address: RedisAddress, cause?: unknown): PoSyncError {
  return new PoSyncError(
    'redis-is-cluster',
    `Redis at ${placeText(address)} is a node of a cluster.`,
    {
      remedy: 'List nodes of the cluster in redis.cluster, and remove redis.url.',
      ...(cause !== undefined && { cause }),
    },
  );
}

function reason(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : NO_ANSWER);
}
