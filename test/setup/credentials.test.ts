import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

type Variables = { PO_SYNC_SANDBOX_CLIENT_ID: string; PO_SYNC_SANDBOX_CLIENT_SECRET: string };
const { sandboxCredentials } = await loadSetupPart<{
  sandboxCredentials: (folder: string, env: Partial<Variables>) => Promise<Variables>;
}>('credentials.mjs');

test('the sandbox gets credentials of its own once, for the eyes of their user only', async () => {
  await using folder = await makeTempFolder();
  const data = path.join(folder.path, 'sandbox');
  const first = await sandboxCredentials(data, {});
  expect(first.PO_SYNC_SANDBOX_CLIENT_SECRET).toMatch(/^[0-9a-f]{48}$/);
  expect(await sandboxCredentials(data, {})).toEqual(first);

  const { mode } = await stat(path.join(data, 'credentials.json'));
  expect((mode & 0o777).toString(8)).toBe('600');
  await using another = await makeTempFolder();
  expect(await sandboxCredentials(another.path, {})).not.toEqual(first);
});

test('credentials that are set already are used as they are', async () => {
  await using folder = await makeTempFolder();
  const set = { PO_SYNC_SANDBOX_CLIENT_ID: 'me', PO_SYNC_SANDBOX_CLIENT_SECRET: 'hush' };
  expect(await sandboxCredentials(folder.path, set)).toEqual(set);
  await expect(readFile(path.join(folder.path, 'credentials.json'))).rejects.toThrow('ENOENT');
});
