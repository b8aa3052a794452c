import { spawnSync } from 'node:child_process';
import { hkdfSync } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { type EchoingApi, openEchoingApi } from '../support/echoing-api.ts';
import { filesUnder } from '../support/files-under.ts';
import { freePort } from '../support/free-port.ts';
import { startInside, startProgram } from '../support/program.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { DOCUMENTED_USER, LOGIN, startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

// Secrets are searched for in everything that po-sync leaves or prints, against an API that repeats them all.

const SECRETS = {
  clientSecret: 'canary-client/secret+of=staging',
  adminToken: 'canary-admin-token-7Kq',
  readToken: 'canary-read-token-4Wd',
  metricsToken: 'canary-metrics-token-8Lm',
  exportPassword: 'canary-export-pass:word',
  hookPath: 'canary-hook-path-3Vx',
  hookQuery: 'canary-hook-query-9Zt',
  redisPassword: 'canary/redis+pass=5Hn',
  header: 'canary-header "key" <7&Rs>',
  headerFile: 'canary-header-file/key+9Wq=',
};

let api: EchoingApi;
let folder: string;
let url: string;
let adminPort: number;
const stack = new AsyncDisposableStack();
const printed: string[] = [];
const told: string[] = [];
/** Codes and cookies of sessions. */
const secondary: string[] = [];

const rows = (name: string, count: number, quantity = '1') =>
  Array.from({ length: count }, (_, i) => `${name}-${i},NEW,A,${quantity}\n`).join('');
const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity\n';

beforeAll(async () => {
  const redis = stack.use(await startTestRedis());
  const owner = await connectRedis(redis.adminUrl);
  // With `REDIS_ACL=1` the password of the documented user, else of the one that has no name.
  const user = LOGIN === '' ? '' : DOCUMENTED_USER.username;
  if (user === '') await owner.config('SET', 'requirepass', SECRETS.redisPassword);
  else await owner.call('ACL', 'SETUSER', user, 'resetpass', `>${SECRETS.redisPassword}`);
  owner.disconnect();
  url = redis.adminUrl.replace('//', `//${user}:${encodeURIComponent(SECRETS.redisPassword)}@`);
  adminPort = await freePort();
  api = stack.use(await openEchoingApi(`${HEAD}${rows('EXPORTED', 2)}`));
  folder = stack.use(await makeTempFolder()).path;
  await mkdir(path.join(folder, 'inbox'));
  await writeFile(path.join(folder, 'secret.key'), `${SECRETS.headerFile}\n`, { mode: 0o600 });
  await writeFile(
    path.join(folder, 'po-sync.yaml'),
    `environment: staging
data: data
environments:
  staging:
    baseUrl: '${api.url}/api/v1'
    authUrl: '${api.url}'
    headers: { X-Api-Key: '${SECRETS.header}', X-Other-Key: { file: secret.key } }
sources:
  - { name: inbox, type: inbox, path: inbox, stable: 100ms, poll: 200ms }
  - { name: erp, type: export, path: '${api.url}/export/orders.csv', stable: 100ms, poll: 500ms }
reports: { path: reports }
notify:
  - { on: [attention, paused], webhook: '${api.url}/hook/${SECRETS.hookPath}?key=${SECRETS.hookQuery}' }
  - { on: [attention, paused], command: [sh, -c, 'cat >> told.txt; env >> told.txt'] }
delivery: { attempts: 2, settle: 500ms, timeout: 2s, backoff: { initial: 50ms, max: 200ms }, probe: { initial: 200ms, max: 500ms } }
admin: { host: 127.0.0.1, port: ${adminPort} }
log: { level: trace }
`,
  );
});
afterAll(() => stack.disposeAsync());

const env = () => ({
  PO_SYNC_STAGING_CLIENT_ID: 'canary-client-id',
  PO_SYNC_STAGING_CLIENT_SECRET: SECRETS.clientSecret,
  PO_SYNC_ADMIN_TOKEN: SECRETS.adminToken,
  PO_SYNC_ADMIN_READ_TOKEN: SECRETS.readToken,
  PO_SYNC_METRICS_TOKEN: SECRETS.metricsToken,
  PO_SYNC_SOURCE_ERP_USER: 'reader',
  PO_SYNC_SOURCE_ERP_PASSWORD: SECRETS.exportPassword,
  PO_SYNC_REDIS_URL: url,
});

const withConfig = (args: readonly string[]) => [
  '--config',
  path.join(folder, 'po-sync.yaml'),
  ...args,
];

async function run(args: readonly string[], more: Record<string, string> = {}): Promise<void> {
  const place = { cwd: folder, env: { ...env(), ...more } };
  const { out, err } = await startInside(withConfig(args), place).ended;
  printed.push(out, err);
}

/** What may reveal a secret: the secret, also as in addresses, in hexadecimal, in base64 and within it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inside = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift, 'x'), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(shift === 0 ? 0 : 4, -2),
  );
  const plain = [
    secret,
    encodeURIComponent(secret),
    bytes.toString('hex'),
    JSON.stringify(secret).slice(1, -1),
  ];
  return [
    ...plain,
    ...inside,
    ...inside.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** The key that seals tokens at rest, as `tokenSeal` makes it. */
function sealingKey(): string[] {
  const settings = { path: 'auto', clientAuth: 'form' };
  const id = env().PO_SYNC_STAGING_CLIENT_ID;
  const belongsTo = JSON.stringify(['staging', `${api.url}/api/v1`, api.url, id, settings]);
  const key = Buffer.from(hkdfSync('sha256', SECRETS.clientSecret, 'po-sync token', belongsTo, 32));
  return [key.toString('hex'), key.toString('base64').slice(0, -1), key.toString('base64url')];
}

function searchFor(canaries: readonly string[], where: string, text: string): string[] {
  return canaries.filter((canary) => text.includes(canary)).map((canary) => `${where}: ${canary}`);
}

/** Every key and every value, whatever its type. */
async function redisText(): Promise<string> {
  const redis = await connectRedis(url);
  try {
    const all = await redis.keys('*');
    const values = await Promise.all(
      all.map(async (key) => {
        switch (await redis.type(key)) {
          case 'string':
            return redis.get(key);
          case 'hash':
            return redis.hgetall(key);
          case 'list':
            return redis.lrange(key, 0, -1);
          case 'set':
            return redis.smembers(key);
          case 'zset':
            return redis.zrange(key, 0, '-1');
          case 'stream':
            return redis.xrange(key, '-', '+');
          // It went meanwhile.
          case 'none':
            return '';
          default:
            throw new Error(`a key of an unknown type: ${key}`);
        }
      }),
    );
    return `${all.join('\n')}\n${JSON.stringify(values)}`;
  } finally {
    redis.disconnect();
  }
}

const redisPort = () => new URL(url).port;

const processes = () => spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;

async function ask(
  page: string,
  headers: Record<string, string>,
  more: RequestInit = {},
): Promise<Response> {
  // A connection for each call: one that waited for five seconds is closed, perhaps when it is used again.
  const own = { ...headers, connection: 'close' };
  const answer = await fetch(`http://127.0.0.1:${adminPort}${page}`, {
    headers: own,
    redirect: 'manual',
    ...more,
  });
  // A session belongs in this header and nowhere else.
  const shown = [...answer.headers].filter(([name]) => name !== 'set-cookie');
  printed.push(await answer.clone().text(), JSON.stringify(shown));
  return answer;
}

/** Signs in by a link and by a token, and reads every page and every path of the control API. */
async function useDashboard(): Promise<void> {
  const { out } = await startInside(withConfig(['dashboard']), { cwd: folder, env: env() }).ended;
  const code = /#(\S+)/.exec(out)?.[1] ?? '';
  const sameOrigin = { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${adminPort}` };
  const post = (page: string, type: string, body: string) =>
    ask(page, { ...sameOrigin, 'content-type': type }, { method: 'POST', body });
  const opened = [
    await post('/api/v1/session', 'application/json', JSON.stringify({ code })),
    // A second use, and what nobody knows.
    await post('/api/v1/session', 'application/json', JSON.stringify({ code })),
    await post(
      '/api/v1/session',
      'application/json',
      JSON.stringify({ token: SECRETS.clientSecret, name: 'anna' }),
    ),
    await post(
      '/login',
      'application/x-www-form-urlencoded',
      String(new URLSearchParams({ token: 'x', name: 'a' })),
    ),
    await post(
      '/login?to=/batches',
      'application/x-www-form-urlencoded',
      String(new URLSearchParams({ token: SECRETS.adminToken, name: 'anna' })),
    ),
  ];
  const cookies = opened.flatMap(({ headers }) =>
    headers.getSetCookie().map((one) => one.split(';')[0] ?? ''),
  );
  expect(cookies).toHaveLength(2);
  secondary.push(code, ...cookies.map((one) => one.split('=')[1] ?? ''));
  const authorization = `Bearer ${SECRETS.readToken}`;
  await until('the lists', async () => (await ask('/batches', { authorization })).status === 200);
  const items = async (list: string) =>
    (await (await ask(`/api/v1/${list}`, { authorization })).json()) as {
      batches?: { batch?: string; id?: string }[];
      deadLetters?: { batch?: string; id?: string }[];
    };
  const batches = await until('the batches', async () => {
    const names = ((await items('batches/list')).batches ?? []).map(({ batch }) => batch ?? '');
    return names.length === 3 && names;
  });
  const dead = await until('those that need a person', async () => {
    const ids = ((await items('dead-letters/list')).deadLetters ?? []).map(({ id }) => id ?? '');
    return ids.length > 4 && ids;
  });
  const pages = [
    '',
    'batches',
    'dead-letters',
    'environment',
    'order?number=REFUSED-0',
    'order?number=GOOD-0',
  ];
  const paths = ['status', 'dead-letters/list', 'explain?order=STRANGE-0', 'openapi.json'];
  for (const batch of batches) pages.push(`batches/${batch}`);
  for (const batch of batches)
    paths.push(`batches/show?batch=${batch}`, `batches/${batch}/files/report.html`);
  for (const id of dead) pages.push(`dead-letters/${id}`);
  for (const id of dead) paths.push(`dead-letters/show?id=${encodeURIComponent(id)}`);
  const readable = [];
  for (const page of [...pages, ...paths.map((one) => `api/v1/${one}`)]) {
    readable.push((await ask(`/${page}`, { cookie: cookies[0] ?? '' })).status);
    await ask(`/${page}`, { authorization: `Bearer ${SECRETS.metricsToken}` });
  }
  expect(readable.filter((status) => status === 200).length).toBeGreaterThan(readable.length / 2);
}

/** Acts of every kind by the control API; the answers of the partner that they lead to repeat the secrets, too. */
async function act(): Promise<void> {
  const headers = {
    authorization: `Bearer ${SECRETS.adminToken}`,
    'content-type': 'application/json',
    'po-sync-who': 'anna',
  };
  const acts: [page: string, body: object][] = [
    ['pause', { reason: 'a test' }],
    ['resume', {}],
    ['dead-letters/resolve', { order: 'STRANGE-0', as: 'accepted' }],
    ['batches/release', { batch: 'nothing' }],
    ['dead-letters/retry', { id: ['nothing-1'] }],
  ];
  for (const [page, body] of acts)
    await ask(`/api/v1/${page}`, headers, { method: 'POST', body: JSON.stringify(body) });
}

it('no secret appears in files, logs, Redis, process arguments, notices or anything a command prints', async () => {
  const daemon = startProgram(withConfig(['start']), { cwd: folder, env: env() });
  stack.defer(() => void daemon.child.kill('SIGKILL'));
  await until('ready', () => daemon.out().includes('daemon ready'));
  const drop = (name: string, text: string) => writeFile(path.join(folder, 'inbox', name), text);
  await drop(
    'mixed.csv',
    `${HEAD}${rows('GOOD', 12)}${rows('REFUSED', 3)}${rows('BROKEN', 2)}${rows('STRANGE', 2)}${rows('WRONG', 2, 'x')}`,
  );
  await drop('broken.csv', `${HEAD}PO-9,NEW,"A,1\n`);
  const reports = async () =>
    (await readdir(path.join(folder, 'reports')).catch((): string[] => [])).filter(
      (one) => one !== 'open',
    ).length;
  await until('the reports', async () => (await reports()) === 3);
  for (const authorization of [`Bearer ${SECRETS.adminToken}`, 'Bearer wrong', '']) {
    for (const page of ['/healthz', '/readyz', '/metrics', '/', `/?${SECRETS.adminToken}`]) {
      await ask(page, authorization ? { authorization } : {});
    }
  }
  await useDashboard();
  await act();
  told.push(processes(), await redisText());
  // Delivery pauses on what the API says, and the daemon is killed in the middle of it.
  await drop('away.csv', `${HEAD}${rows('AWAY', 3)}${rows('MORE', 5)}`);
  await until('a pause', () => daemon.out().includes('delivery paused'));
  const commands = [
    ['status'],
    ['doctor'],
    ['config', 'show'],
    ['config', 'schema'],
    ['check', path.join(folder, 'inbox', 'done')],
    ['batches', 'list'],
    ['batches', 'show', 'nothing'],
    ['dead-letters', 'list', '--all'],
    ['dead-letters', 'retry', '--dry-run'],
    ['dead-letters', 'retry', '--kind', 'refused', '--yes'],
    ['dead-letters', 'discard', '--kind', 'invalid', '--yes'],
    ['dead-letters', 'resolve', 'GOOD-0', '--as', 'accepted', '--yes'],
    ['reconcile'],
    ['explain', 'REFUSED-0'],
    ['explain', 'AWAY-0'],
    ['pause', '--reason', 'a test'],
    ['resume'],
    ['nonsense'],
  ];
  for (const args of commands) for (const json of [[], ['--json']]) await run([...json, ...args]);
  told.push(processes());
  daemon.child.kill('SIGKILL');
  printed.push((await daemon.ended).out, (await daemon.ended).err);
  await run(['start', '--once', '--max-wait', '1s']);
  // A token endpoint that repeats what it was sent; credentials that are refused, malformed, or set twice.
  api.refuseTokens();
  const redis = await connectRedis(url);
  const tokenKeys = (await redis.keys('*')).filter((key) => /:token/.test(key));
  told.push(await redisText());
  if (tokenKeys.length > 0) await redis.del(...tokenKeys);
  redis.disconnect();
  for (const json of [[], ['--json']]) {
    await run([...json, 'start']);
    await run([...json, 'start', '--once', '--max-wait', '1s']);
    await run([...json, 'doctor']);
    await run([...json, 'reconcile']);
    await run([...json, 'doctor'], {
      PO_SYNC_STAGING_CLIENT_SECRET: `${SECRETS.clientSecret}\n two`,
    });
    await run([...json, 'doctor'], { PO_SYNC_STAGING_CLIENT_SECRET_FILE: '/nowhere' });
    await run([...json, 'start'], { PO_SYNC_SOURCE_ERP_AUTHORIZATION: SECRETS.exportPassword });
    for (const args of [['start'], ['status'], ['doctor']]) {
      await run([...json, ...args], {
        PO_SYNC_REDIS_URL: url.replace(`127.0.0.1:${redisPort()}`, api.redis),
      });
    }
  }
  told.push(await redisText(), processes());

  expect(api.tokens.length).toBeGreaterThan(1);
  expect(api.calls.some((call) => call.startsWith('/hook'))).toBe(true);
  expect(api.calls.some((call) => call.startsWith('/export'))).toBe(true);
  expect(api.received).toEqual(expect.arrayContaining([SECRETS.header, SECRETS.headerFile]));
  const basic = Buffer.from(`reader:${SECRETS.exportPassword}`).toString('base64');
  const canaries = [...Object.values(SECRETS), ...secondary, ...api.tokens, basic]
    .flatMap(formsOf)
    .concat(sealingKey());
  const found = printed.flatMap((text, i) => searchFor(canaries, `printed ${i}`, text));
  for (const [i, text] of told.entries()) found.push(...searchFor(canaries, `told ${i}`, text));
  for (const file of await filesUnder(folder)) {
    // These are where the webhook's address and the headers come from.
    if (file.endsWith('po-sync.yaml') || file.endsWith('secret.key')) continue;
    found.push(...searchFor(canaries, path.relative(folder, file), await readFile(file, 'latin1')));
  }
  expect(found).toEqual([]);
  // The search would find them: what the API repeated is there, with the secret taken out.
  const everything = printed.join('') + told.join('');
  expect(everything).toContain('[redacted]');
});
