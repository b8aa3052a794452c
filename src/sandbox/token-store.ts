import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { failure, type Reply } from './reply.ts';
import { SCOPES, type Scope } from './sandbox-options.ts';

/** The scopes of a bearer token and its expiry (milliseconds since 1970). */
export type Grant = { scopes: ReadonlySet<Scope>; expiresAt: number };

export type TokenStore = {
  /** Stores a new token and returns it. */
  issue(scopes: readonly Scope[]): string;
  /** The grant of a token that was issued, even if the token has expired. */
  find(token: string): Grant | undefined;
  /** Invalidates a token before it expires. */
  revoke(token: string): void;
};

/** Makes tokens recognizable, so that records can redact them. */
export const TOKEN_PREFIX = 'sandbox_';

/** The tokens of one environment. The file contains only hashes, so it reveals no token. */
export function createTokenStore(database: DatabaseSync, lifetime: number): TokenStore {
  const insert = database.prepare('INSERT INTO tokens (hash, scopes, expires_at) VALUES (?, ?, ?)');
  const select = database.prepare('SELECT scopes, expires_at FROM tokens WHERE hash = ?');
  const remove = database.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = database.prepare('DELETE FROM tokens WHERE expires_at < ?');

  return {
    issue(scopes) {
      const token = `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(digest(token), scopes.join(' '), now + lifetime * 1000);
      return token;
    },
    find(token) {
      const row = select.get(digest(token));
      if (row === undefined) return undefined;
      const words = new Set(String(row.scopes).split(' '));
      return {
        scopes: new Set(SCOPES.filter((scope) => words.has(scope))),
        expiresAt: Number(row.expires_at),
      };
    },
    revoke: (token) => void remove.run(digest(token)),
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
  const stranger = (refusal: Reply): Caller => ({ known: false, refusal });
  // RFC 6750 section 3.1: the answer to a request without credentials contains no error code.
  if (header === undefined)
    return stranger(
      challenged(401, realm, 'The header Authorization: Bearer <ACCESS_TOKEN> is missing.'),
    );
  const invalid = (message: string) => stranger(challenged(401, realm, message, 'invalid_token'));
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
  if (token === undefined)
    return invalid('The header Authorization must be: Bearer <ACCESS_TOKEN>.');
  const grant = tokens.find(token);
  if (grant === undefined) return invalid('The access token is not known in this environment.');
  if (grant.expiresAt <= Date.now()) return invalid('The access token has expired.');
  return { known: true, token, grant };
}

/** The refusal of a token that lacks a scope, or undefined if it has the scope (`admin` includes all). */
export function withoutScope(grant: Grant, scope: Scope, realm: string): Reply | undefined {
  if (grant.scopes.has(scope) || grant.scopes.has('admin')) return undefined;
  const message = `The access token lacks the scope ${scope}.`;
  return challenged(403, realm, message, 'insufficient_scope', `, scope="${scope}"`);
}

/** The 401 for a token that was valid until now. */
export function revoked(realm: string): Reply {
  return challenged(401, realm, 'The access token was revoked.', 'invalid_token');
}

function challenged(status: 401 | 403, realm: string, message: string, error?: string, more = '') {
  const why = error === undefined ? '' : `, error="${error}", error_description="${message}"`;
  return failure(status, message, { 'www-authenticate': `Bearer realm="${realm}"${why}${more}` });
}
