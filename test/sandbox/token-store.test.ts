import { expect, test } from 'vitest';
import { openDatabase } from '../../src/sandbox/database.ts';
import { createTokenStore } from '../../src/sandbox/token-store.ts';

test('a token is valid until it is revoked', () => {
  using database = openDatabase(undefined, 'staging');
  const tokens = createTokenStore(database, 3600);
  const issued = tokens.issue(['read', 'write']);
  const grant = tokens.find(issued);
  expect(grant?.scopes).toEqual(new Set(['read', 'write']));
  expect((grant?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
  tokens.revoke(issued);
  expect(tokens.find(issued)).toBe(undefined);
});

test('tokens that expired long ago are removed from the file', () => {
  using database = openDatabase(undefined, 'staging');
  createTokenStore(database, -90_000).issue(['read']);
  createTokenStore(database, 3600).issue(['read']);
  expect(database.prepare('SELECT count(*) AS tokens FROM tokens').get()).toEqual({ tokens: 1 });
});
