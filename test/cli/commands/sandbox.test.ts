import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxCommand } from '../../../src/cli/commands/sandbox.ts';
import type { SandboxArgs } from '../../../src/cli/commands/sandbox-flags.ts';
import type { Shell } from '../../../src/cli/shell.ts';
import { selfSigned } from '../../../src/sandbox/certificate.ts';
import { loadClients, loadSeed } from '../../../src/sandbox/start-files.ts';
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

test('three environments run in one process, each with its own shell', async () => {
  const stopping = new AbortController();
  const names = ['staging', 'uat', 'production'];
  const shells = names.map((name) => {
    const prefix = `PO_SYNC_${name.toUpperCase()}_CLIENT`;
    const env = { [`${prefix}_ID`]: `${name}-id`, [`${prefix}_SECRET`]: `${name}-secret` };
    return fakeShell({ env, cwd: folder.path, signal: stopping.signal });
  });
  const running = names.map((environment, nth) =>
    sandboxCommand({ environment }, shells[nth] ?? fakeShell()),
  );
  for (const [nth, environment] of names.entries()) {
    const told = await until(
      `${environment} to start`,
      () => shells[nth]?.written.out || undefined,
    );
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
  await expect(running).rejects.toMatchObject({
    code: 'sandbox-ended',
    remedy: expect.stringContaining('again'),
  });
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
    const running = sandboxCommand(
      { environment: 'staging', data: name, authPort: '0', faults },
      shell,
    );
    await until(name, () => shell.written.out || undefined);
    stopping.abort('SIGTERM');
    expect(await running).toBe(0);
  }
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
    [{ tokenLifetime: '0' }, 'Option --token-lifetime: "0" is not valid.'],
    [{ listShape: 'tree' }, 'Option --list-shape: "tree" is not valid.'],
    [{ listItems: 'true' }, 'Option --list-items: "true" is not valid.'],
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
    await refused({ data: 'file/in-it', tls: true }).toMatchObject(unusable);
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
    [{ clientAuth: 'jwt' }, 'Option --client-auth: "jwt" is not valid.'],
    [{ duplicateStatus: '500' }, 'Option --duplicate-status: "500" is not valid.'],
    [{ createdStatus: '202' }, 'Option --created-status: "202" is not valid.'],
    [
      { publicUrl: 'sandbox.example.com' },
      'Option --public-url: "sandbox.example.com" is not valid.',
    ],
    [
      { publicUrl: 'https://user:word@host' },
      'Option --public-url: "https://user:word@host" is not valid.',
    ],
    [{ cors: 'swagger.example.com' }, 'Option --cors: "swagger.example.com" is not valid.'],
    [{ cors: 'https://a.example\nx: y' }, 'Option --cors: "https://a.example\nx: y" is not valid.'],
    [{ listKey: '' }, 'Option --list-key: "" is not valid.'],
    [{ listedState: '' }, 'Option --listed-state: "" is not valid.'],
    [{ tlsCert: 'cert.pem' }, 'Only one of --tls-cert and --tls-key is set.'],
  ])('%j', async (args, message) => {
    await refused(args).toMatchObject({ code: 'flag-invalid', message });
  });

  test('a certificate that is none', async () => {
    await writeFile(path.join(folder.path, 'no.pem'), 'no certificate');
    await refused({ tlsCert: 'no.pem', tlsKey: 'no.pem' }).toMatchObject({
      code: 'sandbox-tls-invalid',
    });
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

test.each(['[2001:db8::7]', 'fe80::1%lo'])(
  'a self-signed certificate for %s stays the same',
  (host) => {
    const create = () => selfSigned(path.join(folder.path, 'six'), 'staging', [host]);
    expect(create()).toEqual(create());
  },
);

test('--tls serves https with a self-signed certificate that clients can trust, the same in every run', async () => {
  const certificates: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    await during({ data: 'tls', tls: true }, {}, async ({ baseUrl, authUrl }, { written }) => {
      expect([baseUrl, authUrl].every((url) => url.startsWith('https://127.0.0.1:'))).toBe(true);
      const [, file = ''] = /certificate: (\S+\.pem)\./.exec(written.err) ?? [];
      const ca = await readFile(file, 'utf8');
      certificates.push(ca);
      for (const host of ['127.0.0.1', 'localhost']) {
        const url = new URL(`${authUrl}/healthz`);
        url.hostname = host;
        expect(await statusOf(url, ca)).toBe(200);
      }
      await expect(statusOf(new URL(`${authUrl}/healthz`))).rejects.toMatchObject({
        code: expect.any(String),
      });
    });
  }
  expect(new Set(certificates).size).toBe(1);
});

test('--tls with --memory prints the certificate, because no file has it', async () => {
  await during({ memory: true, tls: true }, {}, async ({ authUrl }, { written }) => {
    const [ca] =
      /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.exec(written.err) ?? [];
    expect(await statusOf(new URL(`${authUrl}/healthz`), ca)).toBe(200);
  });
});

function statusOf(url: URL, ca?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, ...(ca !== undefined && { ca }) }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });
}

test('--tls-cert and --tls-key serve https with a certificate from files', async () => {
  const { cert, key } = selfSigned(undefined, 'staging', []);
  await writeFile(path.join(folder.path, 'own.cert.pem'), cert);
  await writeFile(path.join(folder.path, 'own.key.pem'), key);
  await during(
    { data: 'own-tls', tlsCert: 'own.cert.pem', tlsKey: 'own.key.pem' },
    {},
    async ({ authUrl }) => {
      expect(await statusOf(new URL(`${authUrl}/healthz`), cert)).toBe(200);
    },
  );
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
  ['csv', 'purchaseOrderNumber,articleCode,quantity\nS-1,"A, ""1""",2\nS-2,B,1.5\nS-1,C,3\n'],
  [
    'semicolon.csv',
    '\ufeffpurchaseOrderNumber;orderState;articleCode;quantity\r\nS-1;NEW;"A, ""1""";2\r\nS-1;NEW;C;3\r\n\r\nS-2;;B;1.5',
  ],
  [
    'json',
    JSON.stringify({ status: 'success', data: { purchaseOrders: seededOrders() }, error: null }),
  ],
  ['array.json', JSON.stringify(seededOrders())],
])('--seed stores the orders of a %s file, once', async (name, text) => {
  const data = `seed-${name}`;
  await writeFile(path.join(folder.path, `seed.${name}`), text);
  for (let run = 0; run < 2; run += 1) {
    await during({ data, seed: `seed.${name}` }, {}, async ({ baseUrl, authUrl }) => {
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
  ['purchaseOrderNumber,articleCode\nS-1,A', 'line 1: the column quantity is missing'],
  [
    'purchaseOrderNumber,articleCode,quantity\nS-1,A,1\nS-2,A,many',
    'line 3: .*items\\[0\\]\\.quantity must be a number',
  ],
  ['purchaseOrderNumber,articleCode,quantity\nS-1,"A,1', 'line 2: a quoted cell is not closed'],
  [
    'purchaseOrderNumber,articleCode,quantity\nS-1,A,1\nS-1,B,x,1',
    'line 3: 4 cells, but the header has 3',
  ],
  ['purchaseOrderNumber,articleCode,quantity\nS-1,A', 'line 2: 2 cells, but the header has 3'],
  [
    'purchaseOrderNumber,articleCode,quantity,quantity\nS-1,A,1,2',
    'line 1: the column quantity occurs twice',
  ],
  ['purchaseOrderNumber,articleCode,quantity\nS-1,A,1\nS-2,B,1\nS-1,C,-1', 'line 4: .*quantity'],
  [
    'purchaseOrderNumber,articleCode,quantity,orderState\nS-1,A,1,\nS-1,B,1,OPEN',
    'line 3: .*orderState',
  ],
  ['purchaseOrderNumber,articleCode,quantity\nS-\ufffd,A,1', 'not UTF-8'],
  ['', 'empty'],
  ['[{"purchaseOrderNumber":""}]', 'order 1: .*purchaseOrderNumber must not be empty'],
  ['[', 'JSON'],
])('a seed file that is wrong is refused with the place: %j', (text, place) => {
  expect(() => loadSeed(text, 'seed')).toThrow(
    expect.objectContaining({ code: 'seed-unreadable', message: expect.stringMatching(place) }),
  );
});

test('--clients adds clients with their own scopes', async () => {
  const clients =
    '- { id: reader, secret: of-the-reader, scopes: [read] }\n- { id: erp, secret: of-the-erp }\n';
  await writeFile(path.join(folder.path, 'clients.yaml'), clients);
  await during({ memory: true, clients: 'clients.yaml' }, {}, async ({ authUrl }) => {
    const statuses = [];
    for (const [id, secret, scope] of [
      ['reader', 'of-the-reader', 'read'],
      ['reader', 'of-the-reader', 'write'],
      ['erp', 'of-the-erp', 'admin'],
      ['erp', 'of-the-reader', 'read'],
    ] as const) {
      const body = `${grantFor(id, secret)}&scope=${scope}`;
      statuses.push(
        (await exchange('POST', `${authUrl}/oauth2/token`, { headers: FORM, body })).status,
      );
    }
    expect(statuses).toEqual([200, 400, 200, 401]);
  });
  for (const text of [
    '[{ id: a }]',
    '[{ id: a, secret: b }, { id: a, secret: c }]',
    '[',
    '[*a]',
    '',
    '{}',
  ]) {
    expect(() => loadClients(text, 'clients')).toThrow(
      expect.objectContaining({ code: 'clients-unreadable' }),
    );
  }
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
