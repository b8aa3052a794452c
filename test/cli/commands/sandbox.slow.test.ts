import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxCommand } from '../../../src/cli/commands/sandbox.ts';
import type { SandboxArgs } from '../../../src/cli/commands/sandbox-flags.ts';
import type { Shell } from '../../../src/cli/shell.ts';
import { loadSeed } from '../../../src/sandbox/start-files.ts';
import { exchange } from '../../support/exchange.ts';
import { fakeShell } from '../../support/fake-shell.ts';
import { freePort } from '../../support/free-port.ts';
import { CREDENTIALS, runSandbox, startSandboxProcess } from '../../support/sandbox-process.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { until } from '../../support/until.ts';

let folder: AsyncDisposable & { path: string };

beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test('prints its addresses on the first line, serves, and exits with 0 on SIGTERM', async () => {
  await using sandbox = await startSandboxProcess(path.join(folder.path, 'served'), [
    '--auth-port',
    '0',
    '--record',
  ]);
  expect(sandbox).toMatchObject({
    environment: 'staging',
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
    authUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  expect((await exchange('GET', `${sandbox.baseUrl}/purchase-orders`)).status).toBe(401);
  expect((await exchange('GET', `${sandbox.authUrl}/rehearsal`)).json).toMatchObject({
    environment: 'staging',
  });
  expect(await sandbox.end('SIGTERM')).toBe(0);
});

test('reads credentials from files, and the environment from a variable', async () => {
  const secret = path.join(folder.path, 'secret');
  await writeFile(secret, 'from-a-file\n', { mode: 0o600 });
  const stopping = new AbortController();
  const env = {
    PO_SYNC_ENVIRONMENT: 'my-own',
    PO_SYNC_MY_OWN_CLIENT_ID: 'someone',
    PO_SYNC_MY_OWN_CLIENT_SECRET_FILE: 'secret',
  };
  const shell = fakeShell({ env, cwd: folder.path, signal: stopping.signal });
  const running = sandboxCommand({ data: 'own' }, shell);
  const { authUrl } = JSON.parse(await until('the sandbox', () => shell.written.out || undefined));
  const body = 'grant_type=client_credentials&client_id=someone&client_secret=from-a-file';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await exchange('POST', `${authUrl}/oauth2/token`, { headers, body })).status).toBe(200);
  stopping.abort('SIGTERM');
  expect(await running).toBe(0);
});

test('each call is one line on standard error, with the reason of a failure and no control characters', async () => {
  const stopping = new AbortController();
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal });
  const running = sandboxCommand({ environment: 'staging', memory: true }, shell);
  const { baseUrl, authUrl } = JSON.parse(
    await until('the sandbox', () => shell.written.out || undefined),
  );
  await exchange('GET', `${authUrl}/healthz`);
  await exchange('GET', `${baseUrl}/purchase-orders`);
  await exchange('GET', `${authUrl}/\u009b31m`);
  stopping.abort('SIGTERM');
  expect(await running).toBe(0);
  const lines = shell.written.err.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^\S+Z GET \/healthz 200 [\d.]+ ms$/),
    expect.stringMatching(
      /^\S+Z GET \/api\/v1\/purchase-orders 401 [\d.]+ ms The header Authorization: .* is missing\.$/,
    ),
    expect.stringMatching(/^\S+Z GET \/.* 404 [\d.]+ ms Path \/\S* not found/),
  ]);
  expect(shell.written.err).not.toMatch(/(?!\n)\p{Cc}/u);
});

type List = { data: { purchaseOrders: unknown[] } };

async function jsonOf<T>(answer: Response): Promise<T> {
  return (await answer.json()) as T;
}

test('--memory creates no file, and --reset removes the orders and tokens of earlier runs', async () => {
  await using place = await makeTempFolder();
  const args = { environment: 'staging', data: 'data' };
  const run = async (
    more: SandboxArgs,
    use: (urls: { baseUrl: string; authUrl: string }) => Promise<void>,
  ) => {
    const stopping = new AbortController();
    const shell = fakeShell({ env: CREDENTIALS, cwd: place.path, signal: stopping.signal });
    const running = sandboxCommand({ ...args, ...more }, shell);
    await use(JSON.parse(await until('the sandbox', () => shell.written.out || undefined)));
    stopping.abort('SIGTERM');
    await running;
  };
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: CREDENTIALS.PO_SYNC_STAGING_CLIENT_ID,
    client_secret: CREDENTIALS.PO_SYNC_STAGING_CLIENT_SECRET,
  });
  const tokenOf = async (authUrl: string): Promise<string> =>
    jsonOf<{ access_token: string }>(
      await fetch(`${authUrl}/oauth2/token`, { method: 'POST', body: form }),
    ).then((answer) => answer.access_token);
  const headersOf = (token: string) => ({
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'content-type': 'application/json',
  });
  const body =
    '{"purchaseOrderNumber":"P-1","orderState":"NEW","items":[{"articleCode":"A","quantity":1}]}';
  let token = '';
  await run({ memory: true }, async ({ baseUrl, authUrl }) => {
    const headers = headersOf(await tokenOf(authUrl));
    expect(
      (await fetch(`${baseUrl}/purchase-orders`, { method: 'POST', headers, body })).status,
    ).toBe(201);
    const list = await jsonOf<List>(await fetch(`${baseUrl}/purchase-orders`, { headers }));
    expect(list.data.purchaseOrders).toHaveLength(1);
  });
  expect(await readdir(place.path)).toEqual([]);
  await run({}, async ({ baseUrl, authUrl }) => {
    token = await tokenOf(authUrl);
    await fetch(`${baseUrl}/purchase-orders`, { method: 'POST', headers: headersOf(token), body });
  });
  await run({ reset: true }, async ({ baseUrl, authUrl }) => {
    expect((await fetch(`${baseUrl}/purchase-orders`, { headers: headersOf(token) })).status).toBe(
      401,
    );
    const headers = headersOf(await tokenOf(authUrl));
    const list = await jsonOf<List>(await fetch(`${baseUrl}/purchase-orders`, { headers }));
    expect(list.data.purchaseOrders).toEqual([]);
  });
});

test('a call that crashes is reported on standard error', async () => {
  const stopping = new AbortController();
  await writeFile(path.join(folder.path, 'crash.yaml'), 'faults: [{ kind: crash, on: token }]');
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal });
  const running = sandboxCommand({ environment: 'staging', faults: 'crash.yaml' }, shell);
  const { authUrl } = JSON.parse(await until('the sandbox', () => shell.written.out || undefined));
  expect((await exchange('POST', `${authUrl}/oauth2/token`)).status).toBe(500);
  expect(shell.written.err).toMatch(/^The sandbox failed to answer a call: Rehearsed crash\.\n/);
  stopping.abort('SIGTERM');
  await running;
});

describe('an invalid value gives one clear error', () => {
  const env = CREDENTIALS;
  const refused = (args: SandboxArgs, more: Partial<Shell> = {}) =>
    expect(
      sandboxCommand(
        { environment: 'staging', data: 'unused', ...args },
        fakeShell({ env, cwd: folder.path, ...more }),
      ),
    ).rejects;

  test.each([
    [{ port: '99999' }, 'Option --port: "99999" is not valid.'],
    [{ port: '1e3' }, 'Option --port: "1e3" is not valid.'],
    [{ authPort: 'x' }, 'Option --auth-port: "x" is not valid.'],
    [{ tokenPath: '/token' }, 'Option --token-path: "/token" is not valid.'],
    [{ scopes: 'read delete' }, 'Option --scopes: "delete" is not valid.'],
    [{ scopes: ' ' }, 'Option --scopes: " " is not valid.'],
    [{ onDuplicate: 'ignore' }, 'Option --on-duplicate: "ignore" is not valid.'],
    [{ onDuplicate: '500' }, 'Option --on-duplicate: "500" is not valid.'],
    [{ list: 'newest' }, 'Option --list: "newest" is not valid.'],
  ])('%j', async (args, message) => {
    await refused(args).toMatchObject({
      code: 'flag-invalid',
      message,
      remedy: expect.stringMatching(/^Use /),
    });
  });

  test.each(['10.0.0.0/33', 'fe80::/129', 'localhost', '10.0.0.0/8/8', '10.0.0.0/', ''])(
    '--allow-ip %s',
    async (range) => {
      await refused({ allowIp: [range] }).toMatchObject({ code: 'sandbox-allow-ip-invalid' });
    },
  );

  test('an unknown environment', async () => {
    const name = {
      environment: '../up',
      env: { PO_SYNC____UP_CLIENT_ID: 'x', PO_SYNC____UP_CLIENT_SECRET: 'x' },
    };
    await refused(name, name).toMatchObject({ code: 'sandbox-environment-invalid' });
  });

  test('an environment whose name leads out of the data folder writes no credentials', async () => {
    await refused({ environment: '../up' }, { env: {} }).toMatchObject({
      code: 'sandbox-environment-invalid',
    });
    expect(await readdir(folder.path)).not.toContain('up.env');
  });

  test('a host of another machine', async () => {
    await refused({ memory: true, host: 'host.invalid' }).toMatchObject({
      code: 'sandbox-cannot-listen',
      remedy: expect.stringContaining('--host'),
    });
  });

  test('a data folder that cannot be created', async () => {
    await writeFile(path.join(folder.path, 'file'), '');
    const unusable = {
      code: 'sandbox-data-unusable',
      remedy: 'Choose a writable folder with --data.',
    };
    await refused({ data: 'file/in-it' }).toMatchObject(unusable);
    await refused({ data: 'file/in-it' }, { env: {} }).toMatchObject(unusable);
  });

  test('a missing fault file', async () => {
    await refused({ faults: 'nowhere.yaml' }).toMatchObject({ code: 'file-missing' });
    await refused({ faults: '.' }).toMatchObject({ code: 'file-unreadable' });
  });

  test('half of the credentials, or no place and no terminal for generated ones', async () => {
    const id = { PO_SYNC_STAGING_CLIENT_ID: 'someone' };
    const message =
      'The sandbox has no credentials for staging: PO_SYNC_STAGING_CLIENT_SECRET is not set.';
    await refused({}, { env: id }).toMatchObject({ code: 'secret-missing', message });
    await refused({ memory: true }, { env: {} }).toMatchObject({ code: 'secret-missing' });
  });

  test.each([
    [{ headers: 'loose' }, 'Option --headers: "loose" is not valid.'],
    [
      { publicUrl: 'sandbox.example.com' },
      'Option --public-url: "sandbox.example.com" is not valid.',
    ],
    [
      { publicUrl: 'https://user:word@host' },
      'Option --public-url: "https://user:word@host" is not valid.',
    ],
  ])('%j', async (args, message) => {
    await refused(args).toMatchObject({ code: 'flag-invalid', message });
  });
});

/** Runs the command in this process until `use` ends. */
async function during(
  args: SandboxArgs,
  more: Partial<Shell>,
  use: (urls: Urls, shell: Written) => Promise<void>,
) {
  const stopping = new AbortController();
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal, ...more });
  const running = sandboxCommand(args, shell);
  const started = await until('the sandbox', () => shell.written.out || undefined);
  await use(JSON.parse(started), shell).finally(() => stopping.abort('SIGTERM'));
  expect(await running).toBe(0);
}
type Urls = { environment: string; baseUrl: string; authUrl: string };
type Written = { written: { out: string; err: string } };

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const grantFor = (id: string, secret: string) =>
  `grant_type=client_credentials&client_id=${encodeURIComponent(id)}&client_secret=${encodeURIComponent(secret)}`;

test('without variables it runs as staging, with credentials that are generated once, stored, and shown on a terminal', async () => {
  const secrets: string[] = [];
  for (const isTTY of [true, false]) {
    await during(
      { data: 'generated' },
      { env: {}, isTTY },
      async ({ environment, authUrl }, { written }) => {
        expect(environment).toBe('staging');
        const file = path.join(folder.path, 'generated', 'staging.env');
        expect(written.err).toContain(file);
        const text = await readFile(file, 'utf8');
        const [, secret = ''] = /^export PO_SYNC_STAGING_CLIENT_SECRET=(.+)$/m.exec(text) ?? [];
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        expect(written.err.includes(secret)).toBe(isTTY);
        const body = grantFor('sandbox-staging', secret);
        expect(
          (await exchange('POST', `${authUrl}/oauth2/token`, { headers: FORM, body })).status,
        ).toBe(200);
        secrets.push(secret);
      },
    );
  }
  expect(new Set(secrets).size).toBe(1);
});

test('sandboxes of two environments have client IDs that one configuration can use', async () => {
  const ids: string[] = [];
  for (const environment of ['staging', 'production'])
    await during({ data: 'two', environment }, { env: {} }, async () => {
      const text = await readFile(path.join(folder.path, 'two', `${environment}.env`), 'utf8');
      ids.push(/_CLIENT_ID=(.+)$/m.exec(text)?.[1] ?? '');
    });
  expect(ids).toEqual(['sandbox-staging', 'sandbox-production']);
});

test('two sandboxes that start at once in a new folder have the same generated credentials', async () => {
  const stopping = new AbortController();
  const shells = [1, 2].map(() =>
    fakeShell({ env: {}, cwd: folder.path, signal: stopping.signal, isTTY: true }),
  );
  const running = shells.map((shell) => sandboxCommand({ data: 'at-once' }, shell));
  await Promise.race(running).catch(() => undefined);
  const secrets = shells.map(({ written }) => /^Client secret: (.+)$/m.exec(written.err)?.[1]);
  const stored = await readFile(path.join(folder.path, 'at-once', 'staging.env'), 'utf8');
  expect(secrets.map((secret) => stored.endsWith(`=${secret}\n`))).toEqual([true, true]);
  stopping.abort('SIGTERM');
  await Promise.allSettled(running);
});

test('--public-url is the address in the first line and in the OpenAPI document', async () => {
  const port = await freePort();
  const args = { memory: true, port: String(port), publicUrl: 'https://sandbox.example.com/po/' };
  const stopping = new AbortController();
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal });
  const running = sandboxCommand(args, shell);
  const urls = JSON.parse(await until('the sandbox', () => shell.written.out || undefined));
  const { json } = await exchange('GET', `http://127.0.0.1:${port}/openapi.json`);
  stopping.abort('SIGTERM');
  await running;
  expect(json).toMatchObject({
    servers: [{ url: 'https://sandbox.example.com/po/api/v1' }],
    paths: { '/oauth2/token': { servers: [{ url: 'https://sandbox.example.com/po' }] } },
  });
  expect(urls).toEqual({
    environment: 'staging',
    baseUrl: 'https://sandbox.example.com/po/api/v1',
    authUrl: 'https://sandbox.example.com/po',
  });
});

test.each([
  [
    'list',
    JSON.stringify({ status: 'success', data: { purchaseOrders: seededOrders() }, error: null }),
  ],
  ['array', JSON.stringify(seededOrders())],
])('--seed stores the orders of a JSON file with the %s, once', async (name, text) => {
  const data = `seed-${name}`;
  await writeFile(path.join(folder.path, `${data}.json`), text);
  for (let run = 0; run < 2; run += 1) {
    await during({ data, seed: `${data}.json` }, {}, async ({ baseUrl, authUrl }) => {
      const body = grantFor(
        CREDENTIALS.PO_SYNC_STAGING_CLIENT_ID,
        CREDENTIALS.PO_SYNC_STAGING_CLIENT_SECRET,
      );
      const { json } = await exchange('POST', `${authUrl}/oauth2/token`, { headers: FORM, body });
      const headers = { authorization: `Bearer ${String(json.access_token)}`, ...JSON_HEADERS };
      const list = await exchange('GET', `${baseUrl}/purchase-orders`, { headers });
      expect(list.json.data).toEqual({ purchaseOrders: seededOrders() });
    });
  }
});

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' };

function seededOrders() {
  return [
    {
      purchaseOrderNumber: 'S-1',
      orderState: 'NEW',
      items: [
        { articleCode: 'A, "1"', quantity: 2 },
        { articleCode: 'C', quantity: 3 },
      ],
    },
    { purchaseOrderNumber: 'S-2', orderState: 'NEW', items: [{ articleCode: 'B', quantity: 1.5 }] },
  ];
}

test.each([
  ['[{"purchaseOrderNumber":""}]', 'order 1: .*purchaseOrderNumber must not be empty'],
  ['[', 'JSON'],
])('a seed file that is wrong is refused with the place: %j', (text, place) => {
  expect(() => loadSeed(text, 'seed')).toThrow(
    expect.objectContaining({ code: 'seed-unreadable', message: expect.stringMatching(place) }),
  );
});

test('a process that cannot do its work says so in a line or two and exits with 1', async () => {
  await using sandbox = await startSandboxProcess(path.join(folder.path, 'first'));
  const flags = ['--environment', 'staging', '--data', path.join(folder.path, 'second')];
  const taken = await runSandbox([...flags, '--port', new URL(sandbox.baseUrl).port]);
  expect(taken).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^po-sync: Port \d+ on 127\.0\.0\.1 is in use/),
  });
  expect(taken.err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
});

test('two processes cannot use one data folder', async () => {
  const data = path.join(folder.path, 'shared');
  await using _first = await startSandboxProcess(data);
  const second = await runSandbox(['--environment', 'staging', '--data', data]);
  expect(second).toMatchObject({
    code: 1,
    err: expect.stringContaining('Another sandbox is using'),
  });
});
