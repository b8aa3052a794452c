import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import type { Scope } from './sandbox-options.ts';
import { SCOPES } from './sandbox-options.ts';

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
 * The tokens of one environment and its clients. The file contains only hashes, so it reveals no token.
 * A token is cached in memory after its first use, so that calls compute no hash.
 */
export function createTokenStore(file: DatabaseSync, clientIds: readonly string[], lifetime: number): TokenStore {
  const clients = new Map(clientIds.map((id) => [id, digest(id)]));
  const known = new Set([...clients.values()].map((hash) => hash.toString('hex')));
  const insert = file.prepare('INSERT INTO tokens (hash, client, scopes, expires_at) VALUES (?, ?, ?, ?)');
  const select = file.prepare('SELECT scopes, expires_at, hex(client) AS client FROM tokens WHERE hash = ?');
  const remove = file.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = file.prepare('DELETE FROM tokens WHERE expires_at < ?');
  const cached = new Map<string, Grant>();

  return {
    issue(clientId, scopes) {
      const token = randomBytes(32).toString('base64url');
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(digest(token), clients.get(clientId) ?? digest(clientId), scopes.join(' '), now + lifetime * 1000);
      return token;
    },
    find(token) {
      const recent = cached.get(token);
      if (recent !== undefined) return recent;
      const row = select.get(digest(token));
      if (row === undefined || !known.has(String(row.client).toLowerCase())) return undefined;
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
