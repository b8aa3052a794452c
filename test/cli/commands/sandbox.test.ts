import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxArgs, sandboxCommand } from '../../../src/cli/commands/sandbox.ts';
import type { Shell } from '../../../src/cli/shell.ts';
import { exchange } from '../../support/exchange.ts';
import { fakeShell } from '../../support/fake-shell.ts';
import { CREDENTIALS, runSandbox, startSandboxProcess } from '../../support/sandbox-process.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { until } from '../../support/until.ts';

let folder: AsyncDisposable & { path: string };

beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test('prints its addresses on the first line, serves, and exits with 0 on SIGTERM', async () => {
  await using sandbox = await startSandboxProcess(path.join(folder.path, 'served'), ['--auth-port', '0', '--record']);
  expect(sandbox).toMatchObject({
    environment: 'staging',
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
    authUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  expect((await exchange('GET', `${sandbox.baseUrl}/purchase-orders`)).status).toBe(401);
  expect((await exchange('GET', `${sandbox.authUrl}/rehearsal`)).json).toMatchObject({ environment: 'staging' });
  expect(await sandbox.end('SIGTERM')).toBe(0);
});

test('three environments run in one process, each with its own shell', async () => {
  const stopping = new AbortController();
  const names = ['staging', 'uat', 'production'];
  const shells = names.map((name) => {
    const prefix = `PO_SYNC_${name.toUpperCase()}_CLIENT`;
    const env = { [`${prefix}_ID`]: `${name}-id`, [`${prefix}_SECRET`]: `${name}-secret` };
    return fakeShell({ env, cwd: folder.path, signal: stopping.signal });
  });
  const running = names.map((environment, nth) => sandboxCommand({ environment }, shells[nth] ?? fakeShell()));
  for (const [nth, environment] of names.entries()) {
    const told = await until(`${environment} to start`, () => shells[nth]?.written.out || undefined);
    expect(JSON.parse(told)).toMatchObject({ environment });
  }
  stopping.abort('SIGTERM');
  expect(await Promise.all(running)).toEqual([0, 0, 0]);
});

test('ends with an error when it can store no more orders', async () => {
  const threads: Worker[] = [];
  const hear = (thread: Worker) => threads.push(thread);
  process.on('worker', hear);
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path });
  const running = sandboxCommand({ environment: 'staging', data: 'broken' }, shell);
  await until('the sandbox', () => shell.written.out || undefined);
  process.off('worker', hear);
  await threads[0]?.terminate();
  await expect(running).rejects.toMatchObject({ code: 'sandbox-ended', remedy: expect.stringContaining('again') });
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

test('the sandbox starts with every example of a rehearsal', async () => {
  const rehearsals = path.resolve('config/rehearsals');
  for (const name of await readdir(rehearsals)) {
    const stopping = new AbortController();
    const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal });
    const faults = path.join(rehearsals, name);
    const running = sandboxCommand({ environment: 'staging', data: name, authPort: '0', faults }, shell);
    await until(name, () => shell.written.out || undefined);
    stopping.abort('SIGTERM');
    expect(await running).toBe(0);
  }
});

test('each call is one line on standard error, with the reason of a failure and no control characters', async () => {
  const stopping = new AbortController();
  const shell = fakeShell({ env: CREDENTIALS, cwd: folder.path, signal: stopping.signal });
  const running = sandboxCommand({ environment: 'staging', memory: true }, shell);
  const { baseUrl, authUrl } = JSON.parse(await until('the sandbox', () => shell.written.out || undefined));
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
  const run = async (more: SandboxArgs, use: (urls: { baseUrl: string; authUrl: string }) => Promise<void>) => {
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
    jsonOf<{ access_token: string }>(await fetch(`${authUrl}/oauth2/token`, { method: 'POST', body: form })).then(
      (answer) => answer.access_token,
    );
  const headersOf = (token: string) => ({
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'content-type': 'application/json',
  });
  const body = '{"purchaseOrderNumber":"P-1","orderState":"NEW","items":[{"articleCode":"A","quantity":1}]}';
  let token = '';
  await run({ memory: true }, async ({ baseUrl, authUrl }) => {
    const headers = headersOf(await tokenOf(authUrl));
    expect((await fetch(`${baseUrl}/purchase-orders`, { method: 'POST', headers, body })).status).toBe(201);
    const list = await jsonOf<List>(await fetch(`${baseUrl}/purchase-orders`, { headers }));
    expect(list.data.purchaseOrders).toHaveLength(1);
  });
  expect(await readdir(place.path)).toEqual([]);
  await run({}, async ({ baseUrl, authUrl }) => {
    token = await tokenOf(authUrl);
    await fetch(`${baseUrl}/purchase-orders`, { method: 'POST', headers: headersOf(token), body });
  });
  await run({ reset: true }, async ({ baseUrl, authUrl }) => {
    expect((await fetch(`${baseUrl}/purchase-orders`, { headers: headersOf(token) })).status).toBe(401);
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
    [{ tokenLifetime: '0' }, 'Option --token-lifetime: "0" is not valid.'],
    [{ listShape: 'tree' }, 'Option --list-shape: "tree" is not valid.'],
    [{ listItems: 'true' }, 'Option --list-items: "true" is not valid.'],
  ])('%j', async (args, message) => {
    await refused(args).toMatchObject({ code: 'flag-invalid', message, remedy: expect.stringMatching(/^Use /) });
  });

  test.each(['10.0.0.0/33', 'fe80::/129', 'localhost', '10.0.0.0/8/8', '10.0.0.0/', ''])(
    '--allow-ip %s',
    async (range) => {
      await refused({ allowIp: [range] }).toMatchObject({ code: 'sandbox-allow-ip-invalid' });
    },
  );

  test('an unknown environment', async () => {
    const name = { environment: '../up', env: { PO_SYNC____UP_CLIENT_ID: 'x', PO_SYNC____UP_CLIENT_SECRET: 'x' } };
    await refused(name, name).toMatchObject({ code: 'sandbox-environment-invalid' });
  });

  test('a data folder that cannot be created', async () => {
    await writeFile(path.join(folder.path, 'file'), '');
    await refused({ data: 'file/in-it' }).toMatchObject({ code: 'sandbox-data-unusable' });
  });

  test('a missing fault file', async () => {
    await refused({ faults: 'nowhere.yaml' }).toMatchObject({ code: 'file-unreadable' });
  });

  test('missing credentials: none are generated', async () => {
    const message = 'The sandbox has no credentials for staging: PO_SYNC_STAGING_CLIENT_ID is not set.';
    await refused({}, { env: {} }).toMatchObject({ code: 'secret-missing', message });
  });

  test('no environment', async () => {
    await expect(sandboxCommand({}, fakeShell({ env }))).rejects.toMatchObject({ code: 'environment-missing' });
  });
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
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('Another sandbox is using') });
});
