import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AdminTokens } from '../../config/secrets.ts';
import { codeKey } from '../../operate/dashboard-link.ts';
import type { Store } from '../../redis/store.ts';
import type { Principal } from './route.ts';

/** The prefix makes browsers refuse the cookie from another host or without Secure, and hides it from subdomains. */
export const COOKIE = '__Host-po_sync';

/** Seconds that a session is valid. */
const SESSION = 12 * 3_600;
/** Bytes of the signing key. With an empty one, anybody could sign. */
const KEY = 32;
/** Milliseconds that the signing key is used before it is read again. */
const FRESH = 10_000;

/** What a cookie says. `by`: a fingerprint of the token that opened the session; empty for a one-time link. */
type Claim = Principal & { exp: number; by: string };

type SessionStore = Pick<Store, 'redis' | 'keys' | 'time'>;

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Sessions of the dashboard. A cookie contains its claim, signed with a key in Redis, so that one login serves every
 * daemon. While Redis is not reachable, sessions are verified with the key that was read last.
 */
export function createSessions({ redis, keys, time }: SessionStore, tokens: AdminTokens) {
  let key: Buffer | undefined;
  let stored: string | null = null;
  let readAt = Number.NEGATIVE_INFINITY;

  /** The signing key; undefined while there is none. Reads only, because Redis may be full. */
  async function readKey(): Promise<Buffer | undefined> {
    if (redis.status !== 'ready') return key;
    stored = await redis.get(keys.sessionKey);
    const found = Buffer.from(stored ?? '', 'base64url');
    key = found.length === KEY ? found : undefined;
    readAt = performance.now();
    return key;
  }

  async function keyToSign(): Promise<Buffer | undefined> {
    const found = await readKey();
    if (found !== undefined || redis.status !== 'ready') return found;
    const fresh = randomBytes(KEY).toString('base64url');
    // One that cannot sign would keep everybody out.
    if (stored === null) await redis.set(keys.sessionKey, fresh, 'NX');
    else await redis.set(keys.sessionKey, fresh);
    return readKey();
  }

  /** The cookie of a new session; undefined while Redis was never reached, or when every session is ended meanwhile. */
  async function open({ role, who }: Principal): Promise<string | undefined> {
    const secret = await keyToSign();
    if (secret === undefined) return undefined;
    const claim: Claim = {
      role,
      who,
      exp: time.now() + SESSION * 1_000,
      by: fingerprint(secret, role),
    };
    const text = Buffer.from(JSON.stringify(claim)).toString('base64url');
    return cookie(`${text}.${signature(secret, text)}`, SESSION);
  }

  /** The person of a session; undefined when the cookie is forged, has expired, or its token was changed. */
  async function verify(value: string): Promise<Principal | undefined> {
    const secret = performance.now() - readAt < FRESH ? key : await readKey();
    const [text = '', signed = ''] = value.split('.');
    if (secret === undefined || !isEqual(signed, signature(secret, text))) return undefined;
    const { role, who, exp, by } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claim;
    return exp > time.now() && by === fingerprint(secret, role) ? { role, who } : undefined;
  }

  /** Changing or removing a token ends the sessions of its role. */
  function fingerprint(secret: Buffer, role: Principal['role']): string {
    const token = tokens.get(role)?.reveal();
    return token === undefined
      ? ''
      : createHmac('sha256', secret).update(token).digest('hex').slice(0, 16);
  }

  /** The name of the person to whom a one-time code was printed; a second use finds nothing. */
  async function redeem(code: string): Promise<string | undefined> {
    const name = codeKey({ keys }, code);
    const [found] = (await redis.multi().get(name).del(name).exec()) ?? [];
    return typeof found?.[1] === 'string' ? found[1] : undefined;
  }

  return { open, verify, redeem };
}

/** The header that ends a session in the browser. */
export const NO_COOKIE = cookie('', 0);

function cookie(value: string, seconds: number): string {
  return `${COOKIE}=${value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
}

function signature(secret: Buffer, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

/** Digests have equal lengths, so comparing them takes the same time for every text. */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
