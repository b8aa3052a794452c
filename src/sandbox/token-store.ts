import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import type { Scope } from './sandbox-options.ts';
import { SCOPES } from './sandbox-options.ts';

/** The scopes of a bearer token and its expiry (milliseconds since 1970). */
export type Grant = { scopes: ReadonlySet<Scope>; expiresAt: number };

export type TokenStore = {
  /** Stores a new token on disk and returns it. */
  issue(scopes: readonly Scope[]): string;
  /** The grant of a token issued to this client, even if the token has expired. */
  find(token: string): Grant | undefined;
  /** Invalidates a token before it expires. */
  revoke(token: string): void;
};

const COLUMNS = `(
  hash BLOB PRIMARY KEY,
  client BLOB NOT NULL,
  scopes TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID`;
const CACHE_SIZE = 1000;

/** Opens or creates the token file. Throws like `openDatabase`. */
export function openTokenFile(folder: string | undefined, environment: string, reset = false): DatabaseSync {
  return openDatabase(folder, `${environment}.tokens.sqlite`, { table: 'tokens', columns: COLUMNS, reset });
}

/**
 * The tokens of one environment and one client. The file contains only hashes, so it reveals no token.
 * A token is cached in memory after its first use, so that calls compute no hash.
 */
export function createTokenStore(file: DatabaseSync, clientId: string, lifetime: number): TokenStore {
  const client = digest(clientId);
  const insert = file.prepare('INSERT INTO tokens (hash, client, scopes, expires_at) VALUES (?, ?, ?, ?)');
  const select = file.prepare('SELECT scopes, expires_at FROM tokens WHERE hash = ? AND client = ?');
  const remove = file.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = file.prepare('DELETE FROM tokens WHERE expires_at < ?');
  const cached = new Map<string, Grant>();

  return {
    issue(scopes) {
      const token = randomBytes(32).toString('base64url');
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(digest(token), client, scopes.join(' '), now + lifetime * 1000);
      return token;
    },
    find(token) {
      const known = cached.get(token);
      if (known !== undefined) return known;
      const row = select.get(digest(token), client);
      if (row === undefined) return undefined;
      const words = new Set(String(row.scopes).split(' '));
      const grant = { scopes: new Set(SCOPES.filter((scope) => words.has(scope))), expiresAt: Number(row.expires_at) };
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
