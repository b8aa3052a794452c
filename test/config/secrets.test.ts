import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretFilesFrom } from '../../src/config/secret.ts';
import { loadAdminTokens, loadSecrets } from '../../src/config/secrets.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const { config } = configOf(
  LEAST.replace(
    'sources:',
    "  uat-2: { baseUrl: 'https://uat.example.com/api/v1', authUrl: 'https://login.example.com' }\nsources:",
  ),
);
const ID = 'PO_SYNC_STAGING_CLIENT_ID';
const SECRET = 'PO_SYNC_STAGING_CLIENT_SECRET';
const GIVEN = { [ID]: 'client', [SECRET]: 'hunter2' };

it('come from the variables of the chosen environment', async () => {
  const { clientId, clientSecret } = await loadSecrets(config, {
    ...GIVEN,
    PO_SYNC_UAT_2_CLIENT_ID: 'other',
  });
  expect([clientId, clientSecret.reveal()]).toEqual(['client', 'hunter2']);
});

it('have variables with `_` for special characters of the name', async () => {
  const env = { PO_SYNC_UAT_2_CLIENT_ID: 'u', PO_SYNC_UAT_2_CLIENT_SECRET: 'p' };
  expect((await loadSecrets({ ...config, environment: 'uat-2' }, env)).clientId).toBe('u');
});

describe('come from files', () => {
  it.each([
    ['s3cret', 's3cret'],
    ['s3cret\n', 's3cret'],
    ['s3cret\r\n', 's3cret'],
    [' s3cret ', ' s3cret '],
    ['pässwörd\n', 'pässwörd'],
  ])('%j is %j', async (content, expected) => {
    await using folder = await makeTempFolder();
    await writeFile(path.join(folder.path, 'secret'), content, { mode: 0o600 });
    const env = { [ID]: 'client', [`${SECRET}_FILE`]: 'secret' };
    const { clientSecret } = await loadSecrets(config, env, secretFilesFrom(folder.path));
    expect(clientSecret.reveal()).toBe(expected);
  });

  it('also those of headers, with the same checks; short values of the configuration are not searched for in texts', async () => {
    await using folder = await makeTempFolder();
    const file = path.join(folder.path, 'key');
    const { config: given } = configOf(
      LEAST.replace(
        "example.com' }",
        `example.com', headers: { X-Company: '0042', X-Tenant: 'tenant-7', X-Key: { file: ${file} } } }`,
      ),
    );
    const load = async (content: string) => {
      await writeFile(file, content, { mode: 0o600 });
      return loadSecrets(given, GIVEN);
    };
    await expect(loadSecrets(given, GIVEN)).rejects.toMatchObject({
      code: 'secret-unreadable',
      message: `headers.X-Key: ${file} cannot be read (ENOENT).`,
    });
    await expect(load('schlüssel')).rejects.toMatchObject({
      code: 'secret-invalid',
      message: `headers.X-Key: ${file} must be printable ASCII text without spaces at its ends.`,
    });
    await expect(load('')).rejects.toMatchObject({ message: `headers.X-Key: ${file} is empty.` });
    const { headers } = await load('key-7\n');
    expect([...headers.sent].map(([name, value]) => [name, value.reveal()])).toEqual([
      ['X-Company', '0042'],
      ['X-Tenant', 'tenant-7'],
      ['X-Key', 'key-7'],
    ]);
    expect(headers.hidden.map((value) => value.reveal())).toEqual(['tenant-7', 'key-7']);
  });

  it('are read through links, as orchestrators mount them', async () => {
    await using folder = await makeTempFolder();
    await writeFile(path.join(folder.path, 'data'), 'x', { mode: 0o600 });
    await symlink('data', path.join(folder.path, 'link'));
    const env = { [ID]: 'client', [`${SECRET}_FILE`]: path.join(folder.path, 'link') };
    expect((await loadSecrets(config, env)).clientSecret.reveal()).toBe('x');
  });
});

it('of an empty file are refused with what to do with the file, not with the variable', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'secret');
  await writeFile(file, '\n', { mode: 0o600 });
  const refusal = await loadSecrets(config, { [ID]: 'c', [`${SECRET}_FILE`]: file }).catch(
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({
    code: 'secret-invalid',
    message: `${SECRET}_FILE: ${file} is empty.`,
    remedy: 'Write only the value into this file.',
  });
});

it('of a file below ~ are refused with the reason', async () => {
  const refusal = await loadSecrets(config, { [ID]: 'c', [`${SECRET}_FILE`]: '~/x' }).catch(
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ remedy: 'Write the complete path: only a shell expands ~.' });
});

describe('are refused', () => {
  it.each([
    ['when one is not set', { [ID]: 'client' }, 'secret-missing', `${SECRET} is not set.`],
    ['when both are not set', {}, 'secret-missing', `${ID} is not set.`],
    ['when one is empty', { ...GIVEN, [SECRET]: '' }, 'secret-missing', `${SECRET} is not set.`],
    [
      'with a line break',
      { ...GIVEN, [SECRET]: 'a\nb' },
      'secret-invalid',
      `${SECRET} contains a line break`,
    ],
    [
      'when both ways are used',
      { ...GIVEN, [`${SECRET}_FILE`]: '/x' },
      'secret-ambiguous',
      `${SECRET} and ${SECRET}_FILE`,
    ],
    [
      'when the file is named by nothing',
      { [ID]: 'c', [`${SECRET}_FILE`]: '' },
      'secret-missing',
      `${SECRET} is not set.`,
    ],
    [
      'when the file is not there',
      { [ID]: 'c', [`${SECRET}_FILE`]: '/no/such' },
      'secret-unreadable',
      '(ENOENT)',
    ],
    [
      'when the file is a folder',
      { [ID]: 'c', [`${SECRET}_FILE`]: '/' },
      'secret-unreadable',
      'it is not a file',
    ],
    [
      'when the file never ends',
      { [ID]: 'c', [`${SECRET}_FILE`]: '/dev/zero' },
      'secret-unreadable',
      'it is not a file',
    ],
    [
      'when two environments have one client ID',
      { ...GIVEN, PO_SYNC_UAT_2_CLIENT_ID: 'client' },
      'secret-shared',
      'staging and uat-2 have the same client ID.',
    ],
  ])('%s', async (_, env, code, message) => {
    const refusal = await loadSecrets(config, env).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'PoSyncError',
      code,
      message: expect.stringContaining(message),
    });
    expect(JSON.stringify(refusal)).not.toContain('hunter2');
  });

  it('when a file is too large', async () => {
    await using folder = await makeTempFolder();
    await mkdir(path.join(folder.path, 'x'));
    await writeFile(path.join(folder.path, 'x', 'big'), 'x'.repeat(70_000));
    const env = { [ID]: 'c', [`${SECRET}_FILE`]: 'x/big' };
    await expect(loadSecrets(config, env, secretFilesFrom(folder.path))).rejects.toThrow(
      'larger than 64 KB',
    );
  });
});

it('are not awaited at a pipe without a writer', async () => {
  await using folder = await makeTempFolder();
  const pipe = path.join(folder.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const refusal = loadSecrets(config, { [ID]: 'c', [`${SECRET}_FILE`]: pipe });
  await expect(refusal).rejects.toThrow('it is not a file');
});

it('leave out a file of another environment that cannot be read', async () => {
  await expect(
    loadSecrets(config, { ...GIVEN, PO_SYNC_UAT_2_CLIENT_ID_FILE: '/no/such' }),
  ).resolves.toBeDefined();
});

/** A token of the fewest characters. */
const LONG = 'x1y2z3'.repeat(4).slice(0, 20);

it('contain the tokens of the admin port that are set, each from a variable or a file', async () => {
  const shown = async (env: Record<string, string>) =>
    [...(await loadAdminTokens(env, async () => `${LONG}\n`))].map(([role, token]) => [
      role,
      token.reveal(),
    ]);
  expect(await shown({})).toEqual([]);
  expect(await shown({ PO_SYNC_ADMIN_TOKEN: '', PO_SYNC_METRICS_TOKEN_FILE: '' })).toEqual([]);
  expect(
    await shown({
      PO_SYNC_ADMIN_TOKEN: 'token-of-the-operators',
      PO_SYNC_ADMIN_READ_TOKEN: 'token-of-all-the-readers',
      PO_SYNC_METRICS_TOKEN_FILE: '/x',
    }),
  ).toEqual([
    ['operate', 'token-of-the-operators'],
    ['read', 'token-of-all-the-readers'],
    ['metrics', LONG],
  ]);
  await expect(shown({ PO_SYNC_ADMIN_TOKEN: LONG.slice(0, 19) })).rejects.toMatchObject({
    code: 'admin-token-short',
  });
});
