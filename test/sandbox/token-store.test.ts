import { expect, test } from 'vitest';
import { openTokenFile } from '../../src/sandbox/database.ts';
import { createTokenStore } from '../../src/sandbox/token-store.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

test('a token is valid for its own client, also after a restart, until it is revoked', async () => {
  await using folder = await makeTempFolder();
  const before = openTokenFile(folder.path, 'staging');
  const issued = createTokenStore(before, ['client'], 3600).issue('client', ['read', 'write']);
  before.close();

  using file = openTokenFile(folder.path, 'staging');
  const tokens = createTokenStore(file, ['client'], 3600);
  const grant = tokens.find(issued);
  expect(grant?.scopes).toEqual(new Set(['read', 'write']));
  expect((grant?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
  expect(createTokenStore(file, ['another client'], 3600).find(issued)).toBe(undefined);
  tokens.revoke(issued);
  expect(tokens.find(issued)).toBe(undefined);
});

test('tokens that expired long ago are removed from the file', async () => {
  await using folder = await makeTempFolder();
  using file = openTokenFile(folder.path, 'staging');
  const old = createTokenStore(file, ['client'], -90_000);
  old.issue('client', ['read']);
  createTokenStore(file, ['client'], 3600).issue('client', ['read']);
  expect(file.prepare('SELECT count(*) AS tokens FROM tokens').get()).toEqual({ tokens: 1 });
});

test('tokens that no longer fit the cache stay valid', async () => {
  await using folder = await makeTempFolder();
  using file = openTokenFile(folder.path, 'staging');
  const tokens = createTokenStore(file, ['client'], 3600);
  const issued = Array.from({ length: 1200 }, () => tokens.issue('client', ['read']));
  for (const token of [...issued, ...issued])
    expect(tokens.find(token)?.scopes).toEqual(new Set(['read']));
});
