import { randomUUID } from 'node:crypto';
import { PoSyncError } from '../core/errors.ts';
import type { Redis } from './connect.ts';

const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * A step back of Redis' clock lengthens the expiry of a lease whose owner may be gone: its remaining time is limited to
 * `ttl`.
 */
const SHORTEN = `if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then return redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return 0`;

/** Throws PoSyncError `lease-lost` unless the lease is held. Await it right before a step that must not happen after its loss. */
export type Fence = () => Promise<void>;

/** A lease: expires when its owner stops renewing it. */
export type Lease = {
  /** Aborts when the lease is lost, also while Redis does not answer. */
  signal: AbortSignal;
  fence: Fence;
  release(): Promise<void>;
};

/**
 * Takes the lease `key` for `owner`; undefined when somebody holds it, also another task of this owner. All owners of a key use
 * the same `ttl`. Renews it every third of `ttl` (milliseconds) until released.
 */
export async function takeLease(
  redis: Redis,
  key: string,
  owner: string,
  ttl: number,
): Promise<Lease | undefined> {
  const value = `${owner} ${randomUUID()}`;
  let until = performance.now() + ttl;
  if ((await redis.set(key, value, 'PX', ttl, 'NX')) !== 'OK') {
    await redis.eval(SHORTEN, 1, key, ttl);
    return undefined;
  }
  const lost = new AbortController();

  async function renew(): Promise<void> {
    const asked = performance.now();
    if ((await redis.eval(RENEW, 1, key, value, ttl)) === 1) until = asked + ttl;
    else lost.abort();
  }

  /** It expires in Redis, whether this process hears of that or not. */
  function isLost(): boolean {
    if (performance.now() >= until) lost.abort();
    return lost.signal.aborted;
  }

  // Not a loop of core/backoff: that one begins with a round at once, and a slow renewal would delay the next one.
  const timer = setInterval(() => {
    if (!isLost()) renew().catch(() => undefined);
  }, ttl / 3);
  return {
    signal: lost.signal,
    async fence() {
      // The step needs some time, too.
      if (until - performance.now() < ttl / 2) await renew();
      else if ((await redis.get(key)) !== value) lost.abort();
      if (isLost()) throw leaseLost(key);
    },
    async release() {
      clearInterval(timer);
      await redis.eval(RELEASE, 1, key, value);
    },
  };
}

function leaseLost(key: string): PoSyncError {
  return new PoSyncError('lease-lost', `This process no longer has the lease ${key}.`, {
    remedy: 'No action needed: another process continues.',
  });
}
