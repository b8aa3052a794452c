import { expect, test } from 'vitest';
import { openDatabase } from '../../src/sandbox/database.ts';
import { openTokenStore } from '../../src/sandbox/token-store.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

test('a token is known to its own client, after a restart too, until it is revoked', async () => {
  await using folder = await makeTempFolder();
  const before = openDatabase(folder.path, 'staging');
  const issued = await openTokenStore(before, 'client', 3600).issue(['read', 'write']);
  before[Symbol.dispose]();

  using database = openDatabase(folder.path, 'staging');
  const tokens = openTokenStore(database, 'client', 3600);
  const grant = tokens.find(issued);
  expect(grant?.scopes).toEqual(new Set(['read', 'write']));
  expect((grant?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
  expect(openTokenStore(database, 'another client', 3600).find(issued)).toBe(undefined);
  tokens.revoke(issued);
  expect(tokens.find(issued)).toBe(undefined);
});

test('tokens long expired leave the file', async () => {
  await using folder = await makeTempFolder();
  using database = openDatabase(folder.path, 'staging');
  const old = openTokenStore(database, 'client', -90_000);
  await old.issue(['read']);
  await openTokenStore(database, 'client', 3600).issue(['read']);
  expect(database.sql.prepare('SELECT count(*) AS tokens FROM tokens').get()).toEqual({ tokens: 1 });
});

test('more tokens than are remembered are all good', async () => {
  await using folder = await makeTempFolder();
  using database = openDatabase(folder.path, 'staging');
  const tokens = openTokenStore(database, 'client', 3600);
  const issued = await Promise.all(Array.from({ length: 1200 }, () => tokens.issue(['read'])));
  for (const token of [...issued, ...issued]) expect(tokens.find(token)?.scopes).toEqual(new Set(['read']));
});
