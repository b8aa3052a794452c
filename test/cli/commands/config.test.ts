import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { configSchemaCommand, configShowCommand } from '../../../src/cli/commands/config.ts';
import { configJsonSchema } from '../../../src/config/schema.ts';
import { LEAST, loadText } from '../../support/config-text.ts';
import { fakeShell } from '../../support/fake-shell.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const UNUSED =
  'mappings: { erp: { columns: { PO: { is: purchaseOrderNumber }, Art: { is: articleCode }, Qty: { is: quantity } } } }\n';

const ENV = {
  PO_SYNC_STAGING_CLIENT_ID: 'canary-id',
  PO_SYNC_STAGING_CLIENT_SECRET_FILE: '/run/canary',
  PO_SYNC_REDIS_URL: 'redis://:canary-pw@127.0.0.1/0',
  PO_SYNC_ADMIN_TOKEN: 'canary-token',
};

async function show(args: { json?: boolean }, text = LEAST) {
  await using folder = await makeTempFolder();
  await writeFile(path.join(folder.path, 'po.yaml'), text);
  const shell = fakeShell({ cwd: folder.path, env: ENV });
  const code = await configShowCommand({ config: 'po.yaml', ...args }, shell);
  return { code, ...shell.written };
}

it('show prints a configuration that parses again, and which variables are set', async () => {
  const { code, out, err } = await show({});
  expect([code, err]).toEqual([0, '']);
  expect(loadText(out).ok).toBe(true);
  expect(out).toContain(
    '#   PO_SYNC_STAGING_CLIENT_ID: set\n#   PO_SYNC_STAGING_CLIENT_SECRET: set by a file\n',
  );
  expect(out).toContain('redis://[redacted]@127.0.0.1/0');
  expect(out).not.toContain('canary');
});

it('show lists the login of a Redis where it is set', async () => {
  expect((await show({})).out).not.toContain('PO_SYNC_REDIS_USERNAME');
  await using folder = await makeTempFolder();
  await writeFile(path.join(folder.path, 'po.yaml'), LEAST);
  const env = {
    ...ENV,
    PO_SYNC_REDIS_USERNAME: 'canary',
    PO_SYNC_REDIS_PASSWORD_FILE: '/run/canary',
  };
  const shell = fakeShell({ cwd: folder.path, env });
  await configShowCommand({ config: 'po.yaml' }, shell);
  expect(shell.written.out).toContain(
    '#   PO_SYNC_REDIS_USERNAME: set\n#   PO_SYNC_REDIS_PASSWORD: set by a file\n',
  );
  expect(shell.written.out).not.toContain('canary');
});

it('show names the file of a secret, and not what is no file: it may be the secret itself', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'client-secret');
  await writeFile(path.join(folder.path, 'po.yaml'), LEAST);
  await writeFile(file, 'canary');
  const env = {
    PO_SYNC_STAGING_CLIENT_ID_FILE: 'canary',
    PO_SYNC_STAGING_CLIENT_SECRET_FILE: file,
  };
  const shell = fakeShell({ cwd: folder.path, env });
  await configShowCommand({ config: 'po.yaml' }, shell);
  expect(shell.written.out).toContain('#   PO_SYNC_STAGING_CLIENT_ID: set by a file\n');
  expect(shell.written.out).toContain(
    `#   PO_SYNC_STAGING_CLIENT_SECRET: set by a file, ${file}\n`,
  );
  expect(shell.written.out).not.toContain('canary');
});

it('show --json prints one document and nothing else', async () => {
  const { code, out, err } = await show({ json: true }, `${LEAST}${UNUSED}`);
  expect([code, err]).toEqual([0, '']);
  expect(out).not.toContain('canary');
  expect(JSON.parse(out)).toMatchObject({
    config: { environment: 'staging', delivery: { timeout: 30_000 } },
    variables: { PO_SYNC_STAGING_CLIENT_ID: 'set', PO_SYNC_ADMIN_TOKEN: 'set' },
    warnings: ['po.yaml:6:13 mappings.erp: is not used by any source'],
  });
});

it('show prints warnings on standard error', async () => {
  const { out, err } = await show({}, `${LEAST}${UNUSED}`);
  expect(err).toBe('po.yaml:6:13 mappings.erp: is not used by any source\n');
  expect(out).not.toContain('not used');
});

it('schema prints the JSON Schema', async () => {
  const shell = fakeShell();
  expect(await configSchemaCommand({}, shell)).toBe(0);
  expect(JSON.parse(shell.written.out)).toEqual(configJsonSchema());
});
