import type { Redis } from './connect.ts';

const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * A step back of Redis' clock lengthens the expiry of a lease whose owner may be gone: its remaining time is limited to
 * `ttl`.
 */
const SHORTEN = `if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then return redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return 0`;

/** A lease: expires when its owner stops renewing it. */
export type Lease = {
  /** Aborts when the lease is lost. */
  signal: AbortSignal;
  release(): Promise<void>;
};

/**
 * Takes the lease `key` for `owner`; undefined when another owner holds it. All owners of a key use the same `ttl`.
 * Renews it every third of `ttl` (milliseconds) until released.
 */
export async function takeLease(
  redis: Redis,
  key: string,
  owner: string,
  ttl: number,
): Promise<Lease | undefined> {
  if ((await redis.set(key, owner, 'PX', ttl, 'NX')) !== 'OK') {
    await redis.eval(SHORTEN, 1, key, ttl);
    return undefined;
  }
  const lost = new AbortController();
  // Not a loop of core/backoff: that one begins with a round at once, and a slow renewal would delay the next one.
  const timer = setInterval(() => {
    redis.eval(RENEW, 1, key, owner, ttl).then(
      (kept) => {
        if (kept !== 1) lost.abort();
      },
      () => undefined,
    );
  }, ttl / 3);
  return {
    signal: lost.signal,
    async release() {
      clearInterval(timer);
      await redis.eval(RELEASE, 1, key, owner);
    },
  };
}
