import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { failure, type Reply } from './reply.ts';
import { SCOPES, type Scope } from './sandbox-options.ts';

/** The scopes of a bearer token and its expiry (milliseconds since 1970). */
export type Grant = { scopes: ReadonlySet<Scope>; expiresAt: number };

export type TokenStore = {
  /** Stores a new token of a client on disk and returns it. */
  issue(clientId: string, scopes: readonly Scope[]): string;
  /** The grant of a token issued to one of the clients, even if the token has expired. */
  find(token: string): Grant | undefined;
  /** Invalidates a token before it expires. */
  revoke(token: string): void;
};

/** Makes tokens recognizable, so that records can redact them. */
export const TOKEN_PREFIX = 'sandbox_';
const CACHE_SIZE = 1000;

/**
 * The tokens of one environment and its clients. The file contains only hashes, so it reveals no token.
 * A token is cached in memory after its first use, so that calls compute no hash.
 */
export function createTokenStore(
  file: DatabaseSync,
  clientIds: readonly string[],
  lifetime: number,
): TokenStore {
  const clients = new Map(clientIds.map((id) => [id, digest(id)]));
  const known = new Set([...clients.values()].map((hash) => hash.toString('hex')));
  const insert = file.prepare(
    'INSERT INTO tokens (hash, client, scopes, expires_at) VALUES (?, ?, ?, ?)',
  );
  const select = file.prepare(
    'SELECT scopes, expires_at, hex(client) AS client FROM tokens WHERE hash = ?',
  );
  const remove = file.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = file.prepare('DELETE FROM tokens WHERE expires_at < ?');
  const cached = new Map<string, Grant>();

  return {
    issue(clientId, scopes) {
      const token = `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(
        digest(token),
        clients.get(clientId) ?? digest(clientId),
        scopes.join(' '),
        now + lifetime * 1000,
      );
      return token;
    },
    find(token) {
      const recent = cached.get(token);
      if (recent !== undefined) return recent;
      const row = select.get(digest(token));
      if (row === undefined || !known.has(String(row.client).toLowerCase())) return undefined;
      const words = new Set(String(row.scopes).split(' '));
      const grant = {
        scopes: new Set(SCOPES.filter((scope) => words.has(scope))),
        expiresAt: Number(row.expires_at),
      };
      if (cached.size >= CACHE_SIZE) cached.clear();
      cached.set(token, grant);
      return grant;
    },
    revoke(token) {
      remove.run(digest(token));
      cached.delete(token);
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A caller with a valid token, or the refusal it gets. */
export type Caller =
  | { known: true; token: string; grant: Grant }
  | { known: false; refusal: Reply };

/** Checks the Authorization header (API part 5, rules 1 and 2; challenges of RFC 6750 section 3). */
export function authenticate(
  header: string | undefined,
  tokens: TokenStore,
  realm: string,
): Caller {
  if (header === undefined)
    return stranger(realm, 'The header Authorization: Bearer <ACCESS_TOKEN> is missing.');
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
  if (token === undefined)
    return stranger(
      realm,
      'The header Authorization must be: Bearer <ACCESS_TOKEN>.',
      'invalid_token',
    );
  const grant = tokens.find(token);
  if (grant === undefined)
    return stranger(realm, 'The access token is not known in this environment.', 'invalid_token');
  if (grant.expiresAt <= Date.now())
    return stranger(realm, 'The access token has expired.', 'invalid_token');
  return { known: true, token, grant };
}

/** The refusal of a token that lacks a scope, or undefined if it has the scope (`admin` includes all). */
export function withoutScope(grant: Grant, scope: Scope, realm: string): Reply | undefined {
  if (grant.scopes.has(scope) || grant.scopes.has('admin')) return undefined;
  const message = `The access token lacks the scope ${scope}.`;
  return failure(403, message, {
    'www-authenticate': challenge(realm, { error: 'insufficient_scope', message, scope }),
  });
}

/** The 401 for a token that was valid until now. */
export function revoked(realm: string): Reply {
  return refusal(realm, 'The access token was revoked.', 'invalid_token');
}

function stranger(realm: string, message: string, error?: string): Caller {
  return { known: false, refusal: refusal(realm, message, error) };
}

function refusal(realm: string, message: string, error?: string): Reply {
  // RFC 6750 section 3.1: the answer to a request without credentials contains no error code.
  const more = error === undefined ? {} : { error, message };
  return failure(401, message, { 'www-authenticate': challenge(realm, more) });
}

function challenge(
  realm: string,
  more: { error?: string; message?: string; scope?: string },
): string {
  const parts = [`realm="${realm}"`];
  if (more.error !== undefined)
    parts.push(`error="${more.error}"`, `error_description="${more.message}"`);
  if (more.scope !== undefined) parts.push(`scope="${more.scope}"`);
  return `Bearer ${parts.join(', ')}`;
}
