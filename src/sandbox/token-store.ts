import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import type { Scope } from './sandbox-options.ts';
import { SCOPES } from './sandbox-options.ts';

/** What a bearer token allows, and until when (milliseconds since 1970). */
export type Grant = { scopes: ReadonlySet<Scope>; expiresAt: number };

export type TokenStore = {
  /** A new token, durable. */
  issue(scopes: readonly Scope[]): string;
  /** The grant of a token that was issued to these credentials, also one that has expired. */
  find(token: string): Grant | undefined;
  /** Makes a token invalid before its time. */
  revoke(token: string): void;
};

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tokens (
    hash BLOB PRIMARY KEY,
    client BLOB NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;
const MOST_REMEMBERED = 1000;

/** Opens the file of tokens, or makes it. Throws as `openDatabase`. */
export function openTokenFile(folder: string, environment: string): DatabaseSync {
  return openDatabase(folder, `${environment}.tokens.sqlite`, SCHEMA);
}

/**
 * The tokens of one environment and one client, kept as hashes: the file does not give a token away.
 * A token seen once is remembered in memory, so that a call costs no hash.
 */
export function createTokenStore(file: DatabaseSync, clientId: string, lifetime: number): TokenStore {
  const client = digest(clientId);
  const insert = file.prepare('INSERT INTO tokens (hash, client, scopes, expires_at) VALUES (?, ?, ?, ?)');
  const select = file.prepare('SELECT scopes, expires_at FROM tokens WHERE hash = ? AND client = ?');
  const remove = file.prepare('DELETE FROM tokens WHERE hash = ?');
  const expire = file.prepare('DELETE FROM tokens WHERE expires_at < ?');
  const remembered = new Map<string, Grant>();

  return {
    issue(scopes) {
      const token = randomBytes(32).toString('base64url');
      const now = Date.now();
      expire.run(now - 86_400_000);
      insert.run(digest(token), client, scopes.join(' '), now + lifetime * 1000);
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
