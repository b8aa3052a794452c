import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const { sandboxCredentials } = await loadSetupPart<{
  sandboxCredentials: (
    folder: string,
    env: Record<string, string>,
  ) => Promise<Record<string, string>>;
}>('credentials.mjs');

const ID = 'PO_SYNC_SANDBOX_CLIENT_ID';
const SECRET = 'PO_SYNC_SANDBOX_CLIENT_SECRET';

test('the sandbox gets credentials once, readable for its user only', async () => {
  await using folder = await makeTempFolder();
  const data = path.join(folder.path, 'sandbox');
  const secretIn = (at: string) => readFile(path.join(at, 'client-secret'), 'utf8');
  const variables = {
    [`${ID}_FILE`]: path.join(data, 'client-id'),
    [`${SECRET}_FILE`]: path.join(data, 'client-secret'),
  };
  expect(await sandboxCredentials(data, {})).toEqual(variables);
  const first = await secretIn(data);
  expect(first).toMatch(/^[0-9a-f]{48}\n$/);
  expect(await sandboxCredentials(data, {})).toEqual(variables);
  expect(await secretIn(data)).toBe(first);

  for (const name of await readdir(data))
    expect(((await stat(path.join(data, name))).mode & 0o777).toString(8)).toBe('600');
  await using another = await makeTempFolder();
  await sandboxCredentials(another.path, {});
  expect(await secretIn(another.path)).not.toBe(first);
});

test('credentials that are already set, or their files, take precedence', async () => {
  await using folder = await makeTempFolder();
  // The shell file of `npm start` names a file again, also where that was loaded before, but contains no secret.
  const names = { [`${SECRET}_FILE`]: '/run/secret' };
  expect(await sandboxCredentials(folder.path, { [ID]: 'me', ...names })).toEqual(names);
  expect(await readdir(folder.path)).toEqual([]);
});
