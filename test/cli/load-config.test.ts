import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openConfig } from '../../src/cli/load-config.ts';
import { LEAST } from '../support/config-text.ts';
import { fakeShell } from '../support/fake-shell.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const UNUSED =
  'mappings: { erp: { columns: { PO: { is: purchaseOrderNumber }, Art: { is: articleCode }, Qty: { is: quantity } } } }\n';

const NO_CONFIRM = { confirm: false };

/** A working folder with configuration files, each with its own admin port. */
async function folderWith(files: Record<string, string>) {
  const folder = await makeTempFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.join(folder.path, path.dirname(name)), { recursive: true });
    await writeFile(path.join(folder.path, name), text);
  }
  return folder;
}
const withPort = (port: number) => `${LEAST}admin: { port: ${port} }\n`;

describe('the file', () => {
  const files = {
    'a.yaml': withPort(1),
    'b.yaml': withPort(2),
    'config/po-sync.yaml': withPort(3),
  };

  it.each([
    ['the flag', { config: 'a.yaml' }, { PO_SYNC_CONFIG: 'b.yaml' }, 1],
    ['the variable', {}, { PO_SYNC_CONFIG: 'b.yaml' }, 2],
    ['its usual place', {}, { PO_SYNC_CONFIG: '' }, 3],
  ])('is named by %s', async (_, args, env, port) => {
    await using folder = await folderWith(files);
    const { config } = await openConfig(args, fakeShell({ cwd: folder.path, env }), NO_CONFIRM);
    expect(config.admin.port).toBe(port);
    expect(config.sources[0]?.path).toBe(path.resolve(path.dirname(config.file), '../inbox'));
  });

  it('that is missing is one error with a remedy', async () => {
    await using folder = await folderWith({});
    const refusal = openConfig({ config: 'no.yaml' }, fakeShell({ cwd: folder.path }), NO_CONFIRM);
    await expect(refusal).rejects.toMatchObject({
      code: 'config-missing',
      message: `Configuration file ${path.join(folder.path, 'no.yaml')} not found.`,
      remedy: expect.stringContaining(`Copy ${path.resolve('config/po-sync.starter.yaml')} there`),
    });
  });

  it.each([
    ['a folder', '.', 'it is not a file'],
    ['a file as a folder', 'a.yaml/x', 'ENOTDIR'],
    ['a device', '/dev/zero', 'it is not a file'],
    ['bytes that are not UTF-8', 'latin.yaml', 'it is not UTF-8'],
    ['a huge file', 'huge.yaml', 'it is larger than 1 MB'],
  ])('that is %s is an error', async (_, config, reason) => {
    await using folder = await folderWith({ 'a.yaml': LEAST, 'huge.yaml': '# '.repeat(600_000) });
    await writeFile(path.join(folder.path, 'latin.yaml'), Buffer.from([0x61, 0xe4, 0x0a]));
    const refusal = openConfig({ config }, fakeShell({ cwd: folder.path }), NO_CONFIRM);
    await expect(refusal).rejects.toMatchObject({
      code: 'config-unreadable',
      message: expect.stringContaining(reason),
    });
  });
});

it('throws one error with every problem as file:line:column', async () => {
  await using folder = await folderWith({
    'po.yaml': `${LEAST}delivery: { atempts: 5, timeout: 1 }\n`,
  });
  const shell = fakeShell({ cwd: folder.path });
  const refusal = openConfig({ config: 'po.yaml', environment: 'uat' }, shell, NO_CONFIRM);
  await expect(refusal).rejects.toMatchObject({
    code: 'config-invalid',
    message: [
      '3 problems in the configuration:',
      '--environment: there is no environment "uat" (known: staging)',
      'po.yaml:6:13 delivery.atempts: is not a known key (did you mean attempts?)',
      'po.yaml:6:34 delivery.timeout: expected a duration such as 250ms, 30s, 5m, 1h or 90d, found 1',
    ].join('\n'),
    remedy: 'docs/reference/configuration.md describes every key.',
  });
});

it('returns warnings as sentences, also about a file that everybody can write', async () => {
  await using folder = await folderWith({ 'po.yaml': `${LEAST}${UNUSED}` });
  const file = path.join(folder.path, 'po.yaml');
  await chmod(file, 0o646);
  const { warnings } = await openConfig(
    { config: 'po.yaml' },
    fakeShell({ cwd: folder.path }),
    NO_CONFIRM,
  );
  expect(warnings).toEqual([
    `${file} can be written by every user of this machine (chmod o-w)`,
    'po.yaml:6:13 mappings.erp: is not used by any source',
  ]);
});

it('a protected environment must be confirmed if the command changes something', async () => {
  await using folder = await folderWith({
    'po.yaml': LEAST.replace('{ baseUrl', '{ protected: true, baseUrl'),
  });
  const shell = fakeShell({ cwd: folder.path });
  const open = (confirm: string | undefined, needs: boolean) =>
    openConfig({ config: 'po.yaml', ...(confirm === undefined ? {} : { confirm }) }, shell, {
      confirm: needs,
    });
  await expect(open(undefined, true)).rejects.toMatchObject({ code: 'confirmation-missing' });
  await expect(open(undefined, false)).resolves.toBeDefined();
  await expect(open('staging', true)).resolves.toBeDefined();
});

describe('the file of PO_SYNC_REDIS_URL_FILE', () => {
  const url = 'redis://:canary@127.0.0.1:6380/2';

  it('holds the address of Redis', async () => {
    await using folder = await folderWith({ 'po.yaml': LEAST, url: `${url}\n` });
    const env = { PO_SYNC_REDIS_URL_FILE: 'url', PO_SYNC_REDIS_URL: '' };
    const { config } = await openConfig(
      { config: 'po.yaml' },
      fakeShell({ cwd: folder.path, env }),
      NO_CONFIRM,
    );
    expect(config.redis.url).toBe(url);
  });

  it.each([
    ['secret-unreadable', { PO_SYNC_REDIS_URL_FILE: 'no' }],
    ['secret-ambiguous', { PO_SYNC_REDIS_URL_FILE: 'url', PO_SYNC_REDIS_URL: url }],
  ])('is one error: %s', async (code, env) => {
    await using folder = await folderWith({ 'po.yaml': LEAST, url });
    const refusal = openConfig(
      { config: 'po.yaml' },
      fakeShell({ cwd: folder.path, env }),
      NO_CONFIRM,
    );
    await expect(refusal).rejects.toMatchObject({ code });
  });
});
