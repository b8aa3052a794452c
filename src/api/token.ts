import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import type { Http } from '../core/http.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { takeLease } from '../redis/lease.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { type Credentials, type Grant, requestToken, TOKEN_PATHS, type TokenPath } from './request-token.ts';
import { fingerprintOf, type StoredToken, tokenSeal } from './sealed-token.ts';

/** A token in hand, with the place it belongs to. */
export type BearerToken = { value: string; fingerprint: string; environment: string; baseUrl: string };

export type TokenSource = ReturnType<typeof createTokenSource>;

type TokenDeps = {
  redis: Redis;
  keys: Keys;
  http: Http;
  clock: Clock;
  time: RedisTime;
  owner: string;
  environment: string;
  baseUrl: string;
  authUrl: string;
  tokenPath: TokenPath | 'auto';
  scope?: string;
  credentials: Credentials;
  /** Told of each new token's lifetime. */
  onRenewed?: (lifetime: number) => void;
  /** Told of each value that comes into hand, so that it can be kept out of the log. */
  onToken?: (value: string) => void;
};

/** Longer than the token request may take, so that a slow endpoint is not asked twice. */
const LOCK = 30_000;
const INVALIDATE = `local t = redis.call('GET', KEYS[1])
if t and string.sub(t, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * The one token of an environment, shared by all workers and daemons through Redis: one request per renewal,
 * whoever needs it. Renewed ahead of expiry while the old one still serves; all margins scale with its lifetime.
 */
export function createTokenSource(deps: TokenDeps) {
  const { redis, keys, clock, time, environment, baseUrl } = deps;
  const { seal, open } = tokenSeal(
    deps.credentials.clientSecret,
    `${environment} ${baseUrl} ${deps.authUrl} ${deps.credentials.clientId}`,
  );
  let current: StoredToken | undefined;
  let renewal: Promise<StoredToken> | undefined;

  /** A token that is good for a call now. Throws PoSyncError `token-refused` or `token-unavailable`. */
  async function get(): Promise<BearerToken> {
    const now = time.now();
    if (current === undefined || now >= current.hardAt) current = await renew();
    // Still good, but soon not: renewed beside the work. A failure is met again at the hard limit.
    else if (now >= current.softAt) renew().catch(toError);
    const { value, fingerprint } = current;
    return { value, fingerprint, environment, baseUrl };
  }

  /** The API refused this very token: forget it, for everybody, unless a newer one is there already. */
  async function invalidate(fingerprint: string): Promise<void> {
    if (current?.fingerprint === fingerprint) current = undefined;
    await redis.eval(INVALIDATE, 1, keys.token, `${fingerprint}.`);
  }

  function renew(): Promise<StoredToken> {
    renewal ??= renewShared().finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  async function renewShared(): Promise<StoredToken> {
    for (;;) {
      const stored = await read();
      if (stored && time.now() < stored.softAt) return keep(stored);
      const lock = await takeLease(redis, keys.tokenLock, deps.owner, LOCK);
      if (lock === undefined) {
        if (stored && time.now() < stored.hardAt) return keep(stored);
        await clock.sleep(50 + Math.random() * 100);
        continue;
      }
      try {
        const late = await read();
        return keep(late && time.now() < late.softAt ? late : await ask(stored));
      } finally {
        await lock.release();
      }
    }
  }

  async function ask(before: StoredToken | undefined): Promise<StoredToken> {
    const asked = time.now();
    const paths = pathsToTry(deps.tokenPath, before?.path ?? current?.path);
    const grant = await requestToken(deps.http, deps.authUrl, paths, deps.credentials, deps.scope);
    const token = storable(grant, asked);
    await redis.set(keys.token, seal(token), 'PX', Math.ceil(grant.lifetime));
    deps.onRenewed?.(grant.lifetime);
    return token;
  }

  async function read(): Promise<StoredToken | undefined> {
    const text = await redis.get(keys.token);
    return text === null ? undefined : open(text);
  }

  function keep(token: StoredToken): StoredToken {
    if (token.fingerprint !== current?.fingerprint) deps.onToken?.(token.value);
    current = token;
    return token;
  }

  return { get, invalidate };
}

/** Renewal begins in the last 10 to 15 % of the life, each daemon a little apart; use ends 5 % (at most 10 s) before. */
function storable({ value, lifetime, path }: Grant, asked: number): StoredToken {
  const softAt = asked + lifetime * (0.85 + Math.random() * 0.05);
  const hardAt = asked + lifetime - Math.min(10_000, lifetime * 0.05);
  return { value, fingerprint: fingerprintOf(value), softAt, hardAt, path };
}

function pathsToTry(wanted: TokenPath | 'auto', known: string | undefined): readonly TokenPath[] {
  if (wanted !== 'auto') return [wanted];
  return [...TOKEN_PATHS].sort((a, b) => Number(b === known) - Number(a === known));
}
