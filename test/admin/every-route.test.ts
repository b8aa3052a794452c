import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/operations/all.ts';
import { takesFile } from '../../src/operations/operation.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

// Every address of the admin port that changes something, found in the source, tried without the right to use it.

const OPERATE = 'token-of-all-operators';
const READ = 'token-of-all-the-readers';

type Found = { method: string; path: string };

/** The routes that are no login. Operations have one path for JSON, and the same without `/api/v1` for forms. */
function changingRoutes(): Found[] {
  const folder = path.resolve(import.meta.dirname, '../../src/admin');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const texts = names.map((name) => readFileSync(path.join(folder, name), 'utf8'));
  const own = texts.flatMap((text) =>
    [...text.matchAll(/method: '(POST|PUT|DELETE)',\s*path: '([^']+)'/g)].map(
      ([, method = '', at = '']) => ({
        method,
        path: at,
      }),
    ),
  );
  const forms = OPERATIONS.filter(({ role }) => role === 'operate').flatMap((one) =>
    (takesFile(one) ? ['/api/v1'] : ['', '/api/v1']).map((before) => ({
      method: 'POST',
      path: `${before}/${one.name.replaceAll(' ', '/')}`,
    })),
  );
  return [...own, ...forms]
    .filter((route) => !/^\/(?:login|logout|open|api\/v1\/session)$/.test(route.path))
    .map((route) => ({ method: route.method, path: route.path.replace(/:[a-z]+/g, 'x') }));
}

const READING = ['status', 'batches/list', 'dead-letters/list', 'dead-letters/show?id=x'];
const PAGES = ['/', '/batches', '/dead-letters', '/upload', '/upload/x', '/plans/x', '/sources'];

let place: Workplace;
let port = 0;
let cookie = '';

beforeAll(async () => {
  const env = { PO_SYNC_ADMIN_TOKEN: OPERATE, PO_SYNC_ADMIN_READ_TOKEN: READ };
  place = await openWorkplace({ env });
  const daemon = place.start(['start']);
  port = Number(await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]));
  const headers = { ...OWN, 'content-type': 'application/json' };
  const reply = await call(
    'POST',
    '/api/v1/session',
    headers,
    JSON.stringify({ token: OPERATE, name: 'anna' }),
  );
  cookie = String(reply.cookie).split(';', 1)[0] ?? '';
  expect(cookie).toContain('po_sync');
});
afterAll(() => place[Symbol.asyncDispose]());

const OWN = { 'sec-fetch-site': 'same-origin' };
const BODIES = [
  ['application/json', '{}'],
  ['application/x-www-form-urlencoded', 'do=send'],
  ['application/octet-stream', 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n'],
] as const;

async function call(method: string, to: string, headers: Record<string, string>, body = '') {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path: to,
    headers: { ...headers, ...length },
    agent: false,
  });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  const code = /"code":"([a-z-]+)"/.exec(text)?.[1];
  return { status: answer.statusCode as number, code, cookie: answer.headers['set-cookie'], text };
}

/** The answers to a request with each kind of body. */
async function answersTo(
  { method, path: to }: Found,
  headers: Record<string, string>,
): Promise<[route: string, statuses: number[]]> {
  const answers = await Promise.all(
    BODIES.map(([type, body]) => call(method, to, { ...headers, 'content-type': type }, body)),
  );
  // A form with many fields is read before its sender is asked to sign in, so that nothing entered is lost.
  const isRead = to.endsWith('/fix') && !to.startsWith('/api/');
  const statuses = new Set(
    answers.map(({ status }) => status).filter((status) => !isRead || status !== 415),
  );
  return [`${method} ${to}`, [...statuses]];
}

async function refusals(headers: () => Record<string, string>, status: number): Promise<void> {
  const routes = changingRoutes();
  expect(routes.length).toBeGreaterThan(20);
  for (const route of routes)
    expect(await answersTo(route, headers())).toEqual([`${route.method} ${route.path}`, [status]]);
}

describe('every address that changes something refuses', () => {
  it('somebody without a login', () => refusals(() => OWN, 401));
  it('a reader', () => refusals(() => ({ ...OWN, authorization: `Bearer ${READ}` }), 403));
  it('a session that another port of this machine uses', () =>
    refusals(() => ({ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1', cookie }), 403));
  it('a session that a page of another site uses', () =>
    refusals(
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', cookie }),
      403,
    ));
  it('a session without an origin', () => refusals(() => ({ cookie }), 403));
  it('another name of this machine, also for the right person', () =>
    refusals(() => ({ ...OWN, cookie, host: '127.0.0.1.nip.io' }), 403));

  it('and lets the right person through to its own checks', async () => {
    for (const route of changingRoutes()) {
      const [name, statuses] = await answersTo(route, { ...OWN, cookie });
      expect([name, statuses.filter((status) => [401, 403, 500].includes(status))]).toEqual([
        name,
        [],
      ]);
    }
    await place.run(['resume']);
  });
});

it('every address that only reads refuses somebody without a login, and another name of this machine', async () => {
  for (const to of [...PAGES, ...READING.map((one) => `/api/v1/${one}`)]) {
    const unknown = await call('GET', to, { accept: 'application/json' });
    const foreign = await call('GET', to, { cookie, host: 'evil.example' });
    expect([to, unknown.status, foreign.status, foreign.code]).toEqual([
      to,
      401,
      403,
      'foreign-host',
    ]);
  }
});
