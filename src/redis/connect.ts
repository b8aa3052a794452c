import { Redis } from 'ioredis';
import { growingWait } from '../core/backoff.ts';
import { PoSyncError, toError } from '../core/errors.ts';

/** A connection; one type for the whole program. */
export type { Redis } from 'ioredis';

/** How long Redis may stay away at start before we give up (product.md, "Exit codes"). */
const REACHABLE_WITHIN = 10_000;

const RECONNECT = { initial: 100, max: 1000 };

type ConnectOptions = {
  /** Told on every loss and every error, at most once a second. */
  onTrouble?: (error: Error) => void;
  onReady?: () => void;
  /** For connections that block or that BullMQ drives: no automatic pipelines. */
  plain?: boolean;
  within?: number;
};

/**
 * Opens a connection that outlives outages: commands wait for Redis to come back instead of failing.
 * Throws PoSyncError `redis-unreachable` when Redis does not answer at start within ten seconds,
 * `redis-refused` when it answers with a no (password, rights).
 */
export async function connectRedis(url: string, options: ConnectOptions = {}): Promise<Redis> {
  const redis = new Redis(url, {
    connectionName: 'po-sync',
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableAutoPipelining: options.plain !== true,
    retryStrategy: (times) => growingWait(times, RECONNECT),
    // A silent network swallows replies without closing; must stay above BullMQ's 11 s of blocking.
    socketTimeout: 15_000,
    connectTimeout: 5_000,
    showFriendlyErrorStack: false,
  });
  let lastError = new Error('no answer');
  let told = 0;
  redis.on('error', (error: unknown) => {
    lastError = toError(error);
    const now = performance.now();
    if (now - told < 1000 && told !== 0) return;
    told = now;
    options.onTrouble?.(lastError);
  });
  if (options.onReady) redis.on('ready', options.onReady);
  await reach(redis, url, options.within ?? REACHABLE_WITHIN, () => lastError);
  return redis;
}

async function reach(redis: Redis, url: string, within: number, lastError: () => Error): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unreachable(url, lastError())), within);
  });
  const refused = new Promise<never>((_, reject) => {
    redis.on('error', (error: unknown) => {
      if (/^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password)/.test(toError(error).message)) reject(refusal(url, error));
    });
  });
  try {
    redis.connect().catch(() => undefined);
    await Promise.race([redis.ping(), late, refused]);
  } catch (error) {
    redis.disconnect();
    if (error instanceof PoSyncError) throw error;
    throw refusal(url, error);
  } finally {
    clearTimeout(timer);
  }
}

function unreachable(url: string, cause: Error): PoSyncError {
  return new PoSyncError('redis-unreachable', `Redis at ${shown(url)} does not answer: ${reason(cause)}.`, {
    remedy: 'Start it, or correct redis.url; without redis.url po-sync starts a private Redis of its own.',
    cause,
  });
}

function refusal(url: string, cause: unknown): PoSyncError {
  return new PoSyncError('redis-refused', `Redis at ${shown(url)} refuses us: ${toError(cause).message}.`, {
    remedy: 'Check user and password in redis.url and what that user may do.',
    cause,
  });
}

function reason(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : 'no answer');
}

/** The address without its password. */
function shown(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//');
}
