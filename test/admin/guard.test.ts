import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { createGuard } from '../../src/admin/http/guard.ts';
import { type Route, readBody, type UploadBody } from '../../src/admin/http/route.ts';
import { COOKIE, createSessions } from '../../src/admin/http/session.ts';
import { signInRoutes } from '../../src/admin/http/sign-in.ts';
import { startAdmin } from '../../src/admin/start-admin.ts';
import { Secret } from '../../src/config/secret.ts';
import { createCode, endSessions } from '../../src/operate/dashboard-link.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

type Answer = { status: number; headers: Record<string, unknown>; body: string };
type Call = { method?: string; headers?: Record<string, string>; body?: string | Buffer };

const OPERATE = new Map([['operate', new Secret('right-token')] as const]);
const OWN = { 'sec-fetch-site': 'same-origin' };
const JSON_TYPE = { 'content-type': 'application/json' };

async function all(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}

let open: OpenRedis;
beforeAll(async () => {
  open = await openTestRedis();
  return () => open[Symbol.asyncDispose]();
});

const routes: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/who',
    handle: ({ principal }) => ({
      status: 200,
      type: 'application/json',
      body: JSON.stringify(principal),
    }),
  },
  {
    method: 'GET',
    path: '/page',
    handle: () => ({ status: 200, type: 'text/html', body: 'page' }),
  },
  {
    method: 'POST',
    path: '/api/v1/act',
    body: 'json',
    handle: ({ body }) => ({ status: 200, type: 'application/json', body: JSON.stringify(body) }),
  },
  {
    method: 'POST',
    path: '/form',
    body: 'form',
    handle: () => ({ status: 200, type: 'text/html', body: 'done' }),
  },
  {
    method: 'PUT',
    path: '/api/v1/parts/:n',
    body: 'upload',
    async handle({ body, params }) {
      const { fields, fileName, content } = body as UploadBody;
      return {
        status: 200,
        type: 'text/plain',
        body: [params['n'], content.length, fileName, fields['a']].join(' '),
      };
    },
  },
];

async function start({
  tokens = new Map(),
  publicUrl,
  host = '127.0.0.1',
  redis = open.redis,
}: {
  tokens?: typeof OPERATE;
  publicUrl?: string;
  host?: string;
  redis?: Redis;
} = {}) {
  const sessions = createSessions({ ...open, redis }, tokens);
  let failures = 0;
  const onFailure = () => {
    failures += 1;
  };
  const guard = createGuard({ host, tokens, publicUrl, sessions, onFailure });
  const checks = { ready: async () => ({ ok: true, checks: {} }) };
  const admin = await startAdmin({
    host,
    port: 0,
    file: 'po-sync.yaml',
    tokens,
    guard,
    checks,
    routes: [...routes, ...signInRoutes({ guard, sessions, environment: 'staging' })],
  });
  const call = async (
    path: string,
    { method = 'GET', headers = {}, body = '' }: Call = {},
  ): Promise<Answer> => {
    const sent = request({
      host: '127.0.0.1',
      port: admin.port,
      path,
      method,
      headers,
      agent: false,
    });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode, headers: answer.headers, body: text };
  };
  return {
    ...admin,
    call,
    failures: () => failures,
    [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose](),
  };
}

type Started = Awaited<ReturnType<typeof start>>;

const post = (headers: Record<string, string> = {}, body = '{"a":1}'): Call => ({
  method: 'POST',
  body,
  headers: { ...JSON_TYPE, ...headers },
});

async function signIn({ call }: Started, body: unknown): Promise<string> {
  const { headers } = await call('/api/v1/session', post(OWN, JSON.stringify(body)));
  return String(headers['set-cookie']).split(';', 1)[0] ?? '';
}

describe('without a token on loopback', () => {
  it('everybody may read, nobody may act', async () => {
    await using admin = await start();
    expect(JSON.parse((await admin.call('/api/v1/who')).body)).toEqual({ role: 'read', who: '' });
    const refused = await admin.call('/api/v1/act', post(OWN));
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([
      403,
      { error: { code: 'not-allowed', remedy: expect.stringContaining('po-sync dashboard') } },
    ]);
    expect(refused.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('a one-time link makes its owner an operator, once', async () => {
    await using admin = await start();
    const code = await createCode(open, 'anna');
    const cookie = await signIn(admin, { code });
    expect(JSON.parse((await admin.call('/api/v1/who', { headers: { cookie } })).body)).toEqual({
      role: 'operate',
      who: 'anna',
    });
    expect((await admin.call('/api/v1/act', post({ ...OWN, cookie }))).status).toBe(200);
    const again = await admin.call('/api/v1/session', post(OWN, JSON.stringify({ code })));
    expect([again.status, JSON.parse(again.body).error.code]).toEqual([401, 'link-used']);
    expect(again.headers['set-cookie']).toBeUndefined();
  });

  it('Redis keeps neither the code nor anything that opens a session', async () => {
    const code = await createCode(open, 'anna');
    const names = await open.redis.keys('*');
    expect(names.join()).not.toContain(code);
  });
});

describe('the session cookie', () => {
  it('is bound to the host, hidden from scripts and never sent from other sites', async () => {
    await using admin = await start();
    const { headers } = await admin.call(
      '/api/v1/session',
      post(OWN, JSON.stringify({ code: await createCode(open, 'anna') })),
    );
    expect(String(headers['set-cookie'])).toMatch(
      /^__Host-po_sync=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
  });

  it('that was changed is refused', async () => {
    await using admin = await start({ tokens: OPERATE });
    const cookie = await signIn(admin, { token: 'right-token', name: 'ben' });
    const [name = '', value = ''] = cookie.split('=', 2);
    const [claim = '', signed = ''] = value.split('.');
    const text = JSON.parse(Buffer.from(claim, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...text, who: 'eve' })).toString('base64url');
    for (const one of [`${forged}.${signed}`, `${claim}.`, claim, '', '.', `${claim}.${signed}x`]) {
      expect(
        (await admin.call('/api/v1/who', { headers: { cookie: `${name}=${one}` } })).status,
        one,
      ).toBe(401);
    }
    expect((await admin.call('/api/v1/who', { headers: { cookie } })).status).toBe(200);
  });

  it('ends when its token is changed, and when every session is ended', async () => {
    await using admin = await start({ tokens: OPERATE });
    const cookie = await signIn(admin, { token: 'right-token', name: 'ben' });
    await using other = await start({ tokens: new Map([['operate', new Secret('another')]]) });
    expect((await other.call('/api/v1/who', { headers: { cookie } })).status).toBe(401);
    await using same = await start({ tokens: OPERATE });
    expect(JSON.parse((await same.call('/api/v1/who', { headers: { cookie } })).body)).toEqual({
      role: 'operate',
      who: 'ben (token)',
    });
    await endSessions(open);
    await using later = await start({ tokens: OPERATE });
    expect((await later.call('/api/v1/who', { headers: { cookie } })).status).toBe(401);
  });
});

describe('the key of the sessions', () => {
  /** A cookie of an operator, signed with an empty key, as anybody can do. */
  function forgedCookie(): string {
    const claim = { role: 'operate', who: 'eve', exp: open.time.now() + 60_000, by: '' };
    const text = Buffer.from(JSON.stringify(claim)).toString('base64url');
    return `${COOKIE}=${text}.${createHmac('sha256', '').update(text).digest('base64url')}`;
  }

  const roleOf = async ({ call }: Started, cookie: string) =>
    JSON.parse((await call('/api/v1/who', { headers: { cookie } })).body).role;

  it('is never empty: not while every session is ended, not when Redis has an empty one', async () => {
    await using quiet = await start();
    await endSessions(open);
    expect(await roleOf(quiet, forgedCookie())).toBe('read');

    // Every session is ended right after the key was made.
    const racing = new Proxy(open.redis, {
      get(redis, name) {
        const value = Reflect.get(redis, name);
        if (name !== 'set') return typeof value === 'function' ? value.bind(redis) : value;
        return async (...args: Parameters<Redis['set']>) => {
          await redis.set(...args);
          await endSessions(open);
        };
      },
    });
    await using raced = await start({ redis: racing });
    expect(await roleOf(raced, forgedCookie())).toBe('read');
    const code = await createCode(open, 'anna');
    const refused = await raced.call('/api/v1/session', post(OWN, JSON.stringify({ code })));
    expect([refused.status, refused.headers['set-cookie']]).toEqual([503, undefined]);

    await open.redis.set(open.keys.sessionKey, '');
    await using emptied = await start();
    expect(await roleOf(emptied, forgedCookie())).toBe('read');
    const again = JSON.stringify({ code: await createCode(open, 'anna') });
    const opened = await emptied.call('/api/v1/session', post(OWN, again));
    expect(opened.headers['set-cookie']).toBeDefined();
    await endSessions(open);
  });

  it.each([
    ['is full', () => open.redis.config('SET', 'maxmemory', '1')],
    ['takes no writes', () => open.redis.replicaof('127.0.0.1', '1')],
  ])(
    'is only read for a page: who is signed in stays signed in when Redis %s',
    async (_, begin) => {
      await using before = await start({ tokens: OPERATE });
      const cookie = await signIn(before, { token: 'right-token', name: 'ben' });
      await begin();
      try {
        await using admin = await start({ tokens: OPERATE });
        const answer = await admin.call('/api/v1/who', { headers: { cookie } });
        expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('ben')]);
        expect(await signIn(admin, { token: 'right-token', name: 'anna' })).toContain('po_sync');
      } finally {
        await open.redis.config('SET', 'maxmemory', '0');
        await open.redis.replicaof('NO', 'ONE');
      }
    },
  );
});

describe('with a token', () => {
  it('a page leads to the login, which leads back to it', async () => {
    await using admin = await start({ tokens: OPERATE });
    const page = await admin.call('/page?a=1', { headers: { accept: 'text/html' } });
    expect([page.status, page.headers['location']]).toEqual([303, '/login?to=%2Fpage%3Fa%3D1']);
    expect((await admin.call('/api/v1/who', { headers: { accept: 'text/html' } })).status).toBe(
      401,
    );
    const form = {
      method: 'POST',
      headers: { ...OWN, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=ben&token=right-token',
    };
    const done = await admin.call('/login?to=%2Fpage%3Fa%3D1', form);
    expect([done.status, done.headers['location']]).toEqual([303, '/page?a=1']);
    expect(String(done.headers['set-cookie'])).toContain('__Host-po_sync=');
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    'javascript:alert(1)',
    '/%5C/evil',
  ])('the login never leads elsewhere: %s', async (to) => {
    await using admin = await start({ tokens: OPERATE });
    const form = {
      method: 'POST',
      headers: { ...OWN, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=ben&token=right-token',
    };
    const { headers } = await admin.call(`/login?to=${encodeURIComponent(to)}`, form);
    expect(String(headers['location'])).toMatch(/^\/(?![/\\])/);
  });

  it('the login page escapes what it shows', async () => {
    await using admin = await start({ tokens: OPERATE });
    const { body } = await admin.call(
      `/login?to=${encodeURIComponent('/"><script>x</script>\u202e')}`,
    );
    expect(body).not.toMatch(/<script>|\u202e/);
  });

  it('ten wrong tokens of an address are reported; then it gets 429 for a minute, also with the right one', async () => {
    await using admin = await start({ tokens: OPERATE });
    const wrong = () => admin.call('/api/v1/session', post(OWN, '{"token":"wrong"}'));
    for (let i = 0; i < 9; i += 1) expect((await wrong()).status).toBe(401);
    const bearer = (token: string) =>
      admin.call('/api/v1/who', { headers: { authorization: `Bearer ${token}` } });
    expect((await bearer('wrong')).status).toBe(401);
    const late = await wrong();
    expect([late.status, Number(late.headers['retry-after']) > 0]).toEqual([429, true]);
    expect([(await bearer('right-token')).status, admin.failures()]).toEqual([429, 10]);
  });

  it.each([
    [{ host: 'po.example' }, 403],
    [{ host: 'po.example', 'x-forwarded-proto': 'https' }, 201],
    [{ host: 'localhost' }, 201],
  ])('a session is opened only where a browser keeps it: %j', async (headers, expected) => {
    await using admin = await start({ tokens: OPERATE, host: '0.0.0.0' });
    const signIn = post({ ...headers, 'sec-fetch-site': 'same-origin' }, '{"token":"right-token"}');
    const { status, body } = await admin.call('/api/v1/session', signIn);
    expect(status).toBe(expected);
    if (expected === 403) expect(body).toContain('a browser does not keep the session');
  });
});

describe('a request that changes something', () => {
  it.each([
    [
      'from another port of this machine',
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:7401' },
    ],
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['without any origin', {}],
    ['from an opaque origin', { origin: 'null' }],
    ['of an old browser, from another port', { origin: 'http://127.0.0.1:1' }],
  ])('%s is refused, although its session is right', async (_, headers) => {
    await using admin = await start();
    const cookie = await signIn(admin, { code: await createCode(open, 'anna') });
    const { status, body } = await admin.call(
      '/api/v1/act',
      post({ ...headers, cookie } as Record<string, string>),
    );
    expect([status, JSON.parse(body).error.code]).toEqual([403, 'foreign-origin']);
    const isOfPage = Object.keys(headers).length > 0;
    expect(body).toContain(
      isOfPage ? 'comes from a page of another origin' : 'has no token and comes from no page',
    );
  });

  it('of an old browser passes from its own origin', async () => {
    await using admin = await start();
    const cookie = await signIn(admin, { code: await createCode(open, 'anna') });
    const headers = {
      cookie,
      host: `127.0.0.1:${admin.port}`,
      origin: `http://127.0.0.1:${admin.port}`,
    };
    expect((await admin.call('/api/v1/act', post(headers))).status).toBe(200);
  });

  it('with a bearer token needs no origin', async () => {
    await using admin = await start({ tokens: OPERATE });
    expect(
      (await admin.call('/api/v1/act', post({ authorization: 'Bearer right-token' }))).status,
    ).toBe(200);
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1', 415],
    ['plain text, which a page may send anywhere', { 'content-type': 'text/plain' }, '{}', 415],
    ['no type', { 'content-type': '' }, '{}', 415],
    ['a compressed body', { 'content-encoding': 'gzip' }, '{}', 415],
    ['a document that is cut off', {}, '{"a":', 400],
    ['bytes that are not UTF-8', {}, '"\u00ff"', 400],
    ['a body beyond the bound', {}, JSON.stringify('x'.repeat(1024 * 1024)), 413],
  ])('with %s is refused', async (_, headers, body, expected) => {
    await using admin = await start({ tokens: OPERATE });
    const answer = await admin.call('/api/v1/act', {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: 'Bearer right-token', ...headers },
      body: body.includes('\u00ff') ? Buffer.from(body, 'latin1') : body,
    });
    expect([answer.status, answer.headers['content-type']]).toEqual([
      expected,
      'application/json; charset=utf-8',
    ]);
  });

  it('takes parts of a file as bytes', async () => {
    await using admin = await start({ tokens: OPERATE });
    const headers = {
      authorization: 'Bearer right-token',
      'content-type': 'application/octet-stream',
    };
    expect(
      (await admin.call('/api/v1/parts/7', { method: 'PUT', headers, body: 'abc' })).body,
    ).toBe('7 3  ');
  });

  it('takes a form with a file', async () => {
    await using admin = await start({ tokens: OPERATE });
    const form = new FormData();
    form.set('a', 'text');
    form.set('file', new Blob(['\r\n--abc\r\n']), 'x "y".csv');
    const { headers: typed, body } = new Request('http://127.0.0.1', {
      method: 'POST',
      body: form,
    });
    const headers = {
      authorization: 'Bearer right-token',
      'content-type': typed.get('content-type') ?? '',
    };
    const bytes = Buffer.concat(await all(body ?? []));
    const answer = await admin.call('/api/v1/parts/7', { method: 'PUT', headers, body: bytes });
    expect(answer.body).toBe('7 9 x "y".csv text');
    const cut = await admin.call('/api/v1/parts/7', {
      method: 'PUT',
      headers,
      body: bytes.subarray(0, -9),
    });
    expect([cut.status, JSON.parse(cut.body).error.code]).toEqual([400, 'body-not-multipart']);
  });

  it('refuses a body that arrives too slowly', async () => {
    const request = Object.assign(new PassThrough(), {
      headers: { 'content-type': 'application/json' },
    });
    request.write('{');
    await expect(readBody(request as unknown as IncomingMessage, 'json', 20)).rejects.toMatchObject(
      {
        code: 'body-too-slow',
      },
    );
  });
});

describe('reading', () => {
  it.each([
    [
      'a page that another site links',
      '/page',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      200,
    ],
    [
      'a page that another site embeds',
      '/page',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      403,
    ],
    [
      'data that another site opens',
      '/api/v1/who',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      403,
    ],
    [
      'data for a page of another port',
      '/api/v1/who',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
      403,
    ],
    [
      'data for an old browser with another origin',
      '/api/v1/who',
      { origin: 'http://evil.example' },
      403,
    ],
    ['data for our own page', '/api/v1/who', { 'sec-fetch-site': 'same-origin' }, 200],
    ['an address that a person enters', '/page', { 'sec-fetch-site': 'none' }, 200],
  ])('%s', async (_, path, headers, expected) => {
    await using admin = await start();
    expect((await admin.call(path, { headers: headers as Record<string, string> })).status).toBe(
      expected,
    );
  });

  it.each([
    '/api/v1/..%2f..%2fetc/passwd',
    '/api/v1/parts/%E0%A4%A',
    '/api/v1/who/',
    '/api//v1/who',
  ])('%s leads nowhere', async (path) => {
    await using admin = await start();
    expect((await admin.call(path)).status).toBe(404);
  });

  it('every answer forbids code in its text, framing, and being read by others', async () => {
    await using admin = await start();
    for (const path of ['/page', '/api/v1/who', '/nowhere']) {
      const { headers } = await admin.call(path);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'; require-trusted-types-for 'script'/,
      );
      expect(headers).toMatchObject({
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('behind a proxy', () => {
  const publicUrl = 'https://po-sync.example.com';

  it('its name and its origin are ours', async () => {
    await using admin = await start({ publicUrl });
    const host = 'po-sync.example.com';
    expect((await admin.call('/page', { headers: { host } })).status).toBe(200);
    const cookie = await signIn(admin, { code: await createCode(open, 'anna') });
    expect(
      (await admin.call('/api/v1/act', post({ host, cookie, origin: publicUrl }))).status,
    ).toBe(200);
    expect((await admin.call('/page', { headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('its name is ours with its port, without it and with another, and only its origin may act', async () => {
    const withPort = `${publicUrl}:35240`;
    await using admin = await start({ publicUrl: withPort });
    const cookie = await signIn(admin, { code: await createCode(open, 'anna') });
    for (const host of [
      'po-sync.example.com',
      'po-sync.example.com:35240',
      'PO-SYNC.example.com:443',
    ]) {
      expect((await admin.call('/page', { headers: { host } })).status, host).toBe(200);
      expect(
        (await admin.call('/api/v1/act', post({ host, cookie, origin: withPort }))).status,
        host,
      ).toBe(200);
      const neighbor = await admin.call(
        '/api/v1/act',
        post({ host, cookie, origin: `http://${host}` }),
      );
      expect([neighbor.status, JSON.parse(neighbor.body).error.code], host).toEqual([
        403,
        'foreign-origin',
      ]);
    }
    for (const host of [
      'po-sync.example.com.evil.example',
      'evil.example:35240',
      'evil.po-sync.example.com',
    ]) {
      expect((await admin.call('/page', { headers: { host } })).status, host).toBe(403);
    }
  });

  it('a port that other machines reach answers to that name, to its address, and to no other name', async () => {
    await using admin = await start({ publicUrl, host: '0.0.0.0', tokens: OPERATE });
    const authorization = 'Bearer right-token';
    for (const [host, expected] of [
      ['po-sync.example.com', 200],
      ['192.168.1.7:9464', 200],
      ['127.0.0.1.nip.io', 403],
    ] as const) {
      expect((await admin.call('/page', { headers: { host, authorization } })).status, host).toBe(
        expected,
      );
    }
  });
});
