import { createHash, randomBytes } from 'node:crypto';
import type { Database } from './database.ts';
import type { Scope } from './sandbox-options.ts';
import { SCOPES } from './sandbox-options.ts';

/** What a bearer token allows, and until when (milliseconds since 1970). */
export type Grant = { scopes: ReadonlySet<Scope>; expiresAt: number };

export type TokenStore = {
  /** A new token; resolves when it is durable. */
  issue(scopes: readonly Scope[]): Promise<string>;
  /** The grant of a token that was issued to these credentials, also one that has expired. */
  find(token: string): Grant | undefined;
  /** Makes a token invalid before its time. */
  revoke(token: string): void;
};

const MOST_REMEMBERED = 1000;

/**
 * The tokens of one environment and one client, kept as hashes: the file does not give a token away.
 * A token seen once is remembered in memory, so that a call costs no hash.
 */
export function openTokenStore(database: Database, clientId: string, lifetime: number): TokenStore {
  const { sql } = database;
  const client = digest(clientId);
  const insert = sql.prepare('INSERT INTO tokens (hash, client, scopes, expires_at) VALUES (?, ?, ?, ?)');
  const select = sql.prepare('SELECT scopes, expires_at FROM tokens WHERE hash = ? AND client = ?');
  const remove = sql.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = sql.prepare('DELETE FROM tokens WHERE expires_at < ?');
  const remembered = new Map<string, Grant>();

  return {
    async issue(scopes) {
      const token = randomBytes(32).toString('base64url');
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(digest(token), client, scopes.join(' '), now + lifetime * 1000);
      await database.flush();
      return token;
    },
    find(token) {
      const known = remembered.get(token);
      if (known !== undefined) return known;
      const row = select.get(digest(token), client);
      if (row === undefined) return undefined;
      const words = new Set(String(row.scopes).split(' '));
      const grant = { scopes: new Set(SCOPES.filter((scope) => words.has(scope))), expiresAt: Number(row.expires_at) };
      if (remembered.size >= MOST_REMEMBERED) remembered.clear();
      remembered.set(token, grant);
      return grant;
    },
    revoke(token) {
      remove.run(digest(token));
      remembered.delete(token);
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
