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
  const env = {
    PO_SYNC_ENVIRONMENT: 'my-own',
    PO_SYNC_MY_OWN_CLIENT_ID: 'someone',
    PO_SYNC_MY_OWN_CLIENT_SECRET_FILE: 'secret',
  };
  await during({ data: 'own' }, { env }, async ({ authUrl }) => {
    const body = grantFor('someone', 'from-a-file');
    expect(
      (await exchange('POST', `${authUrl}/oauth2/token`, { headers: FORM, body })).status,
    ).toBe(200);
  });
});

test('each call is one line on standard error, with the reason of a failure and no control characters', async () => {
  const err = await during({ memory: true }, {}, async ({ baseUrl, authUrl }) => {
    await exchange('GET', `${authUrl}/healthz`);
    await exchange('GET', `${baseUrl}/purchase-orders`);
    await exchange('GET', `${authUrl}/\u009b31m`);
  });
  const lines = err.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^\S+Z GET \/healthz 200 [\d.]+ ms$/),
    expect.stringMatching(
      /^\S+Z GET \/api\/v1\/purchase-orders 401 [\d.]+ ms The header Authorization: .* is missing\.$/,
    ),
    expect.stringMatching(/^\S+Z GET \/.* 404 [\d.]+ ms Path \/\S* not found/),
  ]);
  expect(err).not.toMatch(/(?!\n)\p{Cc}/u);
});

test('--memory creates no file, and --reset removes the orders and tokens of earlier runs', async () => {
  await using place = await makeTempFolder();
  const run = (more: SandboxArgs, use: (urls: Urls) => Promise<void>) =>
    during({ data: 'data', ...more }, { cwd: place.path }, use);
  const ordersAt = async (baseUrl: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, ...JSON_HEADERS };
    return exchange('GET', `${baseUrl}/purchase-orders`, { headers });
  };
  const create = async (baseUrl: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, ...JSON_HEADERS };
    expect((await exchange('POST', `${baseUrl}/purchase-orders`, { headers, body })).status).toBe(
      201,
    );
  };
  const body =
    '{"purchaseOrderNumber":"P-1","orderState":"NEW","items":[{"articleCode":"A","quantity":1}]}';
  let token = '';
  await run({ memory: true }, async ({ baseUrl, authUrl }) => {
    token = await tokenAt(authUrl);
    await create(baseUrl, token);
    expect((await ordersAt(baseUrl, token)).json.data).toMatchObject({ purchaseOrders: [{}] });
  });
  expect(await readdir(place.path)).toEqual([]);
  await run({}, async ({ baseUrl, authUrl }) => {
    token = await tokenAt(authUrl);
    await create(baseUrl, token);
  });
  await run({ reset: true }, async ({ baseUrl, authUrl }) => {
    expect((await ordersAt(baseUrl, token)).status).toBe(401);
    const { json } = await ordersAt(baseUrl, await tokenAt(authUrl));
    expect(json.data).toEqual({ purchaseOrders: [] });
  });
});

test('a call that crashes is reported on standard error', async () => {
  await writeFile(path.join(folder.path, 'crash.yaml'), 'faults: [{ kind: crash, on: token }]');
  const err = await during({ data: 'crash', faults: 'crash.yaml' }, {}, async ({ authUrl }) => {
    expect((await exchange('POST', `${authUrl}/oauth2/token`)).status).toBe(500);
  });
  expect(err).toMatch(/^The sandbox failed to answer a call: Rehearsed crash\.\n/);
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

/** Runs the command in this process until `use` ends; what it wrote on standard error. */
async function during(
  args: SandboxArgs,
  more: Partial<Shell>,
  use: (urls: Urls, shell: Written) => Promise<void>,
): Promise<string> {
  const stopping = new AbortController();
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal, ...more });
  const running = sandboxCommand(args, shell);
  const started = await until('the sandbox', () => shell.written.out || undefined);
  await use(JSON.parse(started), shell).finally(() => stopping.abort('SIGTERM'));
  expect(await running).toBe(0);
  return shell.written.err;
}
type Urls = { environment: string; baseUrl: string; authUrl: string };
type Written = { written: { out: string; err: string } };

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const grantFor = (id: string, secret: string) =>
  `grant_type=client_credentials&client_id=${encodeURIComponent(id)}&client_secret=${encodeURIComponent(secret)}`;

async function tokenAt(authUrl: string): Promise<string> {
  const { PO_SYNC_STAGING_CLIENT_ID: id, PO_SYNC_STAGING_CLIENT_SECRET: secret } = CREDENTIALS;
  const body = grantFor(id, secret);
  const { json } = await exchange('POST', `${authUrl}/oauth2/token`, { headers: FORM, body });
  return String(json.access_token);
}

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
  await during(args, {}, async (urls) => {
    const { json } = await exchange('GET', `http://127.0.0.1:${port}/openapi.json`);
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
      const headers = { authorization: `Bearer ${await tokenAt(authUrl)}`, ...JSON_HEADERS };
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
  expect(taken).toMatchObject({
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
