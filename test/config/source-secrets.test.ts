import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretFilesFrom } from '../../src/config/secret.ts';
import { loadSourceSecrets } from '../../src/config/secrets.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const P = 'PO_SYNC_SOURCE_ERP_1';
const { config } = configOf(
  LEAST.replace(
    / {2}- .*\n/,
    "  - { name: erp-1, type: export, path: 'https://erp.example.com/orders.csv' }\n  - { name: file, type: export, path: /mnt/orders.csv }\n",
  ),
);

async function headersFor(env: Record<string, string>, read = secretFilesFrom('.')) {
  const headers = await loadSourceSecrets(config, env, read);
  return [...headers].map(([name, header]) => [name, header.reveal()]);
}

describe('the credentials of an export at an address', () => {
  it.each<[string, Record<string, string>, string[][]]>([
    ['none', {}, []],
    ['none of another source', { PO_SYNC_SOURCE_FILE_AUTHORIZATION: 'Bearer x' }, []],
    ['the whole header', { [`${P}_AUTHORIZATION`]: 'Bearer abc' }, [['erp-1', 'Bearer abc']]],
    ['another scheme', { [`${P}_AUTHORIZATION`]: 'ApiKey k=v' }, [['erp-1', 'ApiKey k=v']]],
    [
      'user and password',
      { [`${P}_USER`]: 'erp', [`${P}_PASSWORD`]: 'a:b' },
      [['erp-1', basic('erp:a:b')]],
    ],
    [
      'letters beyond ASCII',
      { [`${P}_USER`]: 'jörg', [`${P}_PASSWORD`]: 'ß€' },
      [['erp-1', basic('jörg:ß€')]],
    ],
  ])('are %s', async (_, env, headers) => {
    expect(await headersFor(env)).toEqual(headers);
  });

  it('come from files', async () => {
    await using folder = await makeTempFolder();
    await writeFile(path.join(folder.path, 'user'), 'erp\n', { mode: 0o600 });
    await writeFile(path.join(folder.path, 'password'), 'secret\n', { mode: 0o644 });
    const env = { [`${P}_USER_FILE`]: 'user', [`${P}_PASSWORD_FILE`]: 'password' };
    const headers = await headersFor(env, secretFilesFrom(folder.path));
    expect(headers).toEqual([['erp-1', basic('erp:secret')]]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a user alone', { [`${P}_USER`]: 'erp' }, 'secret-missing'],
    ['a password alone', { [`${P}_PASSWORD`]: 'x' }, 'secret-missing'],
    [
      'both ways',
      { [`${P}_AUTHORIZATION`]: 'Bearer a', [`${P}_USER`]: 'erp', [`${P}_PASSWORD`]: 'x' },
      'secret-ambiguous',
    ],
    [
      'a file that is not there',
      { [`${P}_AUTHORIZATION_FILE`]: '/nowhere/at/all' },
      'secret-unreadable',
    ],
  ])('are refused when there is %s', async (_, env, code) => {
    await expect(headersFor(env)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(P),
    });
  });
});

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}
