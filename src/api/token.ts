import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import type { Http } from '../core/http.ts';
import { oneAtATime } from '../core/semaphore.ts';
import { takeLease } from '../redis/lease.ts';
import type { Store } from '../redis/store.ts';
import { type Credentials, type Grant, requestToken, type TokenSettings } from './request-token.ts';
import { type StoredToken, tokenSeal } from './token-secrecy.ts';
import { createTokenUse, type Refusal } from './token-use.ts';

/** A token with the place it belongs to; `fingerprint` identifies the grant. */
export type BearerToken = {
  value: string;
  fingerprint: string;
  environment: string;
  baseUrl: string;
};

export type TokenSource = ReturnType<typeof createTokenSource>;

/** Where tokens are requested, and which API they belong to. */
export type TokenTarget = {
  environment: string;
  baseUrl: string;
  authUrl: string;
  token: TokenSettings;
};

type TokenDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  http: Http;
  clock: Clock;
  owner: string;
  target: TokenTarget;
  credentials: Credentials;
  on?: TokenEvents;
};

type TokenEvents = {
  /** Called with each token value, so that the log can redact it. */
  token?: ((value: string) => void) | undefined;
  /** Called with each new token's lifetime in milliseconds. */
  renewed?: (lifetime: number) => void;
  /** Called with the code of a failed request. */
  failed?: (code: string) => void;
};

/** Longer than the token request may take, so that a slow endpoint gets one request. */
const LOCK = 30_000;
/** Milliseconds between two requests while the token endpoint fails. */
const REST = 1_000;
const INVALIDATE = `local t = redis.call('GET', KEYS[1])
if t and string.sub(t, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * The token of an environment, shared by all workers and daemons through Redis: one request for each renewal, however
 * many need it. It is renewed before it expires, while the old one is still used. All margins scale with its lifetime.
 */
export function createTokenSource(deps: TokenDeps) {
  const { clock } = deps;
  const { redis, keys, time } = deps.store;
  const { environment, baseUrl } = deps.target;
  const renewShared = createRenewal(deps);
  const use = createTokenUse();
  let failedAt = Number.NEGATIVE_INFINITY;

  /** A token that is valid for a call now. Throws PoSyncError `token-refused` or `token-unavailable`. */
  async function get(): Promise<BearerToken> {
    // Valid, but not for long: renewed in the background. A failure is reported at the hard limit.
    if (use.isEnding(time.now()) && clock.monotonic() - failedAt > REST) renew().catch(toError);
    const { value, fingerprint } = use.pick(time.now()) ?? (await renew());
    return { value, fingerprint, environment, baseUrl };
  }

  /** Whether the token of this grant is still one to use, as far as known here. */
  const isCurrent = (fingerprint: string) => use.isCurrent(fingerprint, time.now());

  /** The API refused the token of this grant in a call that began then (ledger time): one that is over is forgotten by every daemon. */
  async function refused(fingerprint: string, began = Number.POSITIVE_INFINITY): Promise<Refusal> {
    const stored = await redis.get(keys.token);
    const isGone = !stored?.startsWith(`${fingerprint}.`);
    const refusal = use.refused(fingerprint, began, time.now(), isGone);
    if (refusal.kind === 'replaced') await redis.eval(INVALIDATE, 1, keys.token, `${fingerprint}.`);
    return refusal;
  }

  /** At start: a clear refusal is thrown; false where the endpoint is unavailable: it is tried again, as after the start. */
  async function first(): Promise<boolean> {
    // An earlier failure may have been fixed. A wait that the endpoint asked for stays.
    const text = await redis.get(keys.tokenFailure);
    if (text !== null && !(JSON.parse(text) as TokenFailure).isAsked)
      await redis.del(keys.tokenFailure);
    return get().then(() => true, requireUnavailable);
  }

  const renew = oneAtATime(async (): Promise<StoredToken> => {
    try {
      const token = await renewShared();
      deps.on?.token?.(token.value);
      use.offer(token, time.now());
      return token;
    } catch (thrown) {
      failedAt = clock.monotonic();
      throw thrown;
    }
  });

  const { accepted, isDoubtful, isUntried } = use;
  return { get, first, accepted, refused, isCurrent, isDoubtful, isUntried };
}

function requireUnavailable(error: unknown): false {
  if (codeOf(error) !== 'token-unavailable') throw error;
  return false;
}

/** Builds the step that takes the newest token from Redis, or requests one while all other daemons wait. */
function createRenewal(deps: TokenDeps): () => Promise<StoredToken> {
  const { clock, credentials, http, owner } = deps;
  const { redis, keys, time } = deps.store;
  const { environment, baseUrl, authUrl, token: settings } = deps.target;
  // A token that was requested in another way may allow something else.
  const belongsTo = [environment, baseUrl, authUrl, credentials.clientId, settings];
  const { seal, open } = tokenSeal(credentials.clientSecret, JSON.stringify(belongsTo));

  async function ask(known: string | undefined): Promise<StoredToken> {
    await rethrowRecent(deps.store);
    const asked = time.now();
    const request = { http, authUrl, token: settings, known, credentials };
    const grant = await requestToken(request).catch((thrown: unknown) =>
      rememberFailure(deps, thrown),
    );
    const token = storable(grant, asked);
    await redis.set(keys.token, seal(token), 'PX', Math.ceil(grant.lifetime));
    deps.on?.renewed?.(grant.lifetime);
    return token;
  }

  async function read(): Promise<StoredToken | undefined> {
    const text = await redis.get(keys.token);
    return text === null ? undefined : open(text);
  }

  let path: string | undefined;
  return async () => {
    for (;;) {
      const stored = await read();
      path = stored?.path ?? path;
      if (stored && time.now() < stored.softAt) return stored;
      const lock = await takeLease(redis, keys.lease('token'), owner, LOCK);
      if (lock === undefined) {
        if (stored && time.now() < stored.hardAt) return stored;
        await clock.sleep(50 + Math.random() * 100);
        continue;
      }
      try {
        const late = await read();
        return late && time.now() < late.softAt ? late : await ask(path);
      } finally {
        await lock.release();
      }
    }
  };
}

/** Why a request for a token failed, and until when that counts: ledger time, because an expiry in Redis follows its clock. */
type TokenFailure = {
  code: string;
  message: string;
  remedy?: string | undefined;
  until: number;
  /** The endpoint asked to wait until then. */
  isAsked: boolean;
};

/** A recent refusal or outage applies to every daemon, so the endpoint is not called again at once. */
async function rethrowRecent({ redis, keys, time }: TokenDeps['store']): Promise<void> {
  const text = await redis.get(keys.tokenFailure);
  if (text === null) return;
  const { code, message, remedy, until, isAsked } = JSON.parse(text) as TokenFailure;
  const left = until - time.now();
  if (left <= 0) return;
  throw new PoSyncError(code, message, {
    ...(remedy !== undefined && { remedy }),
    ...(isAsked && { facts: { retryAfterMs: left } }),
  });
}

async function rememberFailure(
  { store: { redis, keys, time }, on }: TokenDeps,
  thrown: unknown,
): Promise<never> {
  if (thrown instanceof PoSyncError) {
    const { code, message, remedy } = thrown;
    on?.failed?.(code);
    const rest = Math.max(REST, askedWait(thrown));
    const isAsked = askedWait(thrown) > 0;
    const failure: TokenFailure = { code, message, remedy, until: time.now() + rest, isAsked };
    await redis.set(keys.tokenFailure, JSON.stringify(failure), 'PX', rest);
  }
  throw thrown;
}

/** For how many milliseconds the token endpoint wants no request; 0: it did not say. */
export function askedWait(error: Error): number {
  const { retryAfterMs } = error instanceof PoSyncError ? error.facts : {};
  return typeof retryAfterMs === 'number' ? retryAfterMs : 0;
}

/** The least time between renewal and end, in milliseconds, of a token that lasts long enough: the API may accept the next one late. */
const AHEAD = 30_000;

/** Renewal begins in the last 10 to 15 % of the lifetime, at a random moment for each grant; use ends 5 % (at most 10 s) before its end. */
function storable({ value, lifetime, path }: Grant, asked: number): StoredToken {
  // Identifies this grant, not the value, because an endpoint may issue the same token again.
  const fingerprint = randomBytes(12).toString('hex');
  const ahead = Math.max(lifetime * (0.1 + Math.random() * 0.05), Math.min(AHEAD, lifetime / 4));
  const hardAt = asked + lifetime - Math.min(10_000, lifetime * 0.05);
  return { value, fingerprint, askedAt: asked, softAt: asked + lifetime - ahead, hardAt, path };
}
