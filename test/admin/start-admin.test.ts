import { once } from 'node:events';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Checks } from '../../src/admin/http/health.ts';
import type { AdminRequest, UploadBody } from '../../src/admin/http/route.ts';
import { type AdminOptions, startAdmin } from '../../src/admin/start-admin.ts';
import { Secret } from '../../src/config/secret.ts';
import { until } from '../support/until.ts';

const fine: Checks = { ready: async () => ({ ok: true, checks: { redis: 'ok' } }) };
const start = (more: Partial<AdminOptions> = {}) =>
  startAdmin({ host: '127.0.0.1', port: 0, file: 'po-sync.yaml', checks: fine, ...more });

/** What a browser sends with a request of a page of the dashboard. */
const OWN = { 'sec-fetch-site': 'same-origin' };

type Answer = { status: number; headers: Record<string, unknown>; body: string };

/** One call with exactly these headers; fetch would set Host. */
async function call(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  sent.end();
  const [answer] = await once(sent, 'response');
  let body = '';
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode, headers: answer.headers, body };
}

describe('health', () => {
  it('is alive while the process answers', async () => {
    await using admin = await start({ checks: { ready: () => Promise.reject(new Error('x')) } });
    const { status, body, headers } = await call(admin.port, '/healthz');
    expect([status, JSON.parse(body)]).toEqual([200, { ok: true }]);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    [true, 200],
    [false, 503],
  ])('is ready when the checks say %s', async (ok, expected) => {
    const readiness = { ok, checks: { redis: 'ok', sources: ok ? 'ok' : 'a folder is missing' } };
    await using admin = await start({ checks: { ready: async () => readiness } });
    const { status, body } = await call(admin.port, '/readyz?verbose');
    expect([status, JSON.parse(body)]).toEqual([expected, readiness]);
  });

  it('is not ready if a check fails; the answer contains nothing of the error', async () => {
    await using admin = await start({
      checks: { ready: () => Promise.reject(new Error('redis://:canary@h')) },
    });
    const { status, body } = await call(admin.port, '/readyz');
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { ok: false, checks: { ready: 'the check failed' } },
    ]);
  });

  it('is not ready if a check takes 2 s, and checks only once in this time', async () => {
    let asked = 0;
    const ready = () => {
      asked += 1;
      return new Promise<never>(() => undefined);
    };
    await using admin = await start({ checks: { ready } });
    const begin = performance.now();
    const answers = await Promise.all([call(admin.port, '/readyz'), call(admin.port, '/readyz')]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(performance.now() - begin).toBeGreaterThan(1_900);
    expect(asked).toBe(1);
    expect((await call(admin.port, '/healthz')).status).toBe(200);
  });
});

it('answers while a neighbor holds hundreds of slow connections', async () => {
  await using admin = await start();
  const slow = Array.from({ length: 300 }, () =>
    createConnection(admin.port, '127.0.0.1').on('error', () => undefined),
  );
  try {
    await Promise.all(slow.map((socket) => once(socket, 'connect').catch(() => undefined)));
    for (const socket of slow) socket.write('GET /healthz HTTP/1.1\r\nHost: loc');
    expect((await call(admin.port, '/healthz')).status).toBe(200);
  } finally {
    for (const socket of slow) socket.destroy();
  }
});

it('takes uploads that arrive at once, one at a time', async () => {
  let [inside, most] = [0, 0];
  const upload = async ({ body }: AdminRequest) => {
    most = Math.max(most, ++inside);
    // Meanwhile the other one arrives.
    const { status } = await call(admin.port, '/healthz');
    inside -= 1;
    const { length } = (body as UploadBody).content;
    return { status, type: 'text/plain', body: String(length) };
  };
  await using admin = await start({
    routes: [{ method: 'PUT', path: '/file', needs: 'nobody', body: 'upload', handle: upload }],
  });
  const send = async (body: string) => {
    const headers = { ...OWN, 'content-type': 'application/octet-stream' };
    const url = `http://127.0.0.1:${admin.port}/file`;
    const answer = await fetch(url, { method: 'PUT', headers, body });
    return [answer.status, await answer.text()];
  };
  expect(await Promise.all(['a', 'bb', 'ccc'].map(send))).toEqual([
    [200, '1'],
    [200, '2'],
    [200, '3'],
  ]);
  expect(most).toBe(1);
});

it('cuts no upload when more pages are open than there is room for', async () => {
  const upload = ({ body }: AdminRequest) => {
    return { status: 200, type: 'text/plain', body: String((body as UploadBody).content.length) };
  };
  await using admin = await start({
    connections: 10,
    routes: [{ method: 'PUT', path: '/file', needs: 'nobody', body: 'upload', handle: upload }],
  });
  const sending = request({
    port: admin.port,
    path: '/file',
    method: 'PUT',
    headers: {
      host: 'localhost',
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/octet-stream',
    },
  });
  sending.write('first');
  await delay(0);
  const pages = Array.from({ length: 30 }, () =>
    createConnection(admin.port, '127.0.0.1').on('error', () => undefined),
  );
  try {
    await until('the first pages are closed', () => pages.filter((one) => one.closed).length > 15);
    sending.end(' and last');
    const [answer] = await once(sending, 'response');
    expect([answer.statusCode, String(await answer.toArray())]).toEqual([200, '14']);
  } finally {
    for (const page of pages) page.destroy();
  }
});

describe('other paths and methods', () => {
  it.each([
    ['/', 'GET', 404],
    ['/healthz/', 'GET', 404],
    ['/HEALTHZ', 'GET', 404],
    ['/../healthz/..', 'GET', 404],
    ['/healthz', 'POST', 405],
    ['/readyz', 'DELETE', 405],
    ['/healthz', 'HEAD', 200],
    ['//evil.example/healthz', 'GET', 404],
    ['/%', 'GET', 404],
  ])('%s %s', async (path, method, expected) => {
    await using admin = await start();
    const { status, headers, body } = await call(admin.port, path, OWN, method);
    expect(status).toBe(expected);
    if (expected === 405) expect(headers['allow']).toBe('GET, HEAD');
    if (method === 'HEAD') expect(body).toBe('');
    else expect(JSON.parse(body)).toBeTypeOf('object');
  });
});

it('closes a connection whose requests do not wait for answers', async () => {
  await using admin = await start();
  const neighbor = createConnection({ host: '127.0.0.1', port: admin.port });
  neighbor.on('error', () => undefined);
  neighbor.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000));
  let got = '';
  neighbor.on('data', (bytes) => {
    got += String(bytes);
  });
  await once(neighbor, 'close');
  expect(got.split('HTTP/1.1').length - 1).toBeLessThan(2);
  expect((await call(admin.port, '/healthz')).status).toBe(200);
});

it('answers a request that arrives before this process sees that the answer before it was written', async () => {
  let isHandled = false;
  const large = () => {
    setImmediate(() => {
      isHandled = true;
    });
    return { status: 200, type: 'text/plain', body: 'x'.repeat(32 * 1024 * 1024) };
  };
  await using admin = await start({
    routes: [{ method: 'GET', path: '/large', needs: 'nobody', handle: large }],
  });
  const browser = createConnection({ host: '127.0.0.1', port: admin.port });
  browser.on('error', () => undefined);
  browser.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until('the large answer is on its way', () => isHandled);
  browser.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  let got = '';
  browser.on('data', (bytes) => {
    got += String(bytes);
  });
  await once(browser, 'close');
  expect(got.split('HTTP/1.1 200').length - 1).toBe(2);
});

it('serves the given routes, and survives one that fails', async () => {
  const text = { status: 200, type: 'text/plain', body: 'po_sync_up 1\n' };
  await using admin = await start({
    routes: [
      { method: 'GET', path: '/metrics', handle: () => text },
      {
        method: 'POST',
        path: '/broken',
        needs: 'nobody',
        handle: () => {
          throw new Error('secret');
        },
      },
    ],
  });
  expect(await call(admin.port, '/metrics')).toMatchObject({ status: 200, body: text.body });
  const broken = await call(admin.port, '/broken', OWN, 'POST');
  expect([broken.status, JSON.parse(broken.body)]).toMatchObject([
    500,
    { error: { code: 'internal', message: 'Internal error.' } },
  ]);
  expect(broken.body).not.toContain('secret');
});

describe('on loopback, the Host header', () => {
  it.each(['localhost', 'localhost:8080', '127.0.0.1:9464', '[::1]:9464', 'LOCALHOST'])(
    '%s passes',
    async (host) => {
      await using admin = await start();
      expect((await call(admin.port, '/healthz', { host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:9464',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
  ])('%j is refused: a web page may use it to reach this machine', async (host) => {
    await using admin = await start();
    expect((await call(admin.port, '/healthz', { host })).status).toBe(403);
  });
});

describe('with a token', () => {
  const tokens = new Map([['operate', new Secret('canary-token')] as const]);

  it.each([
    ['none', {}, 401],
    ['another', { authorization: 'Bearer canary-tokem' }, 401],
    ['the beginning of it', { authorization: 'Bearer canary' }, 401],
    ['an empty one', { authorization: 'Bearer ' }, 401],
    ['another scheme', { authorization: 'Basic canary-token' }, 401],
    ['the right one', { authorization: 'Bearer canary-token' }, 200],
    ['the right one in another case of the scheme', { authorization: 'bearer canary-token' }, 200],
  ])('a request with %s', async (_, headers, expected) => {
    await using admin = await start({ tokens });
    for (const path of ['/healthz', '/readyz']) {
      const { status, headers: answered, body } = await call(admin.port, path, headers);
      expect(status).toBe(expected);
      expect(body).not.toContain('canary');
      if (expected === 401) expect(answered['www-authenticate']).toBe('Bearer realm="po-sync"');
    }
  });

  it('serves other machines under any name', async () => {
    await using admin = await start({ host: '0.0.0.0', tokens });
    const headers = { authorization: 'Bearer canary-token', host: 'po-sync.example.com' };
    expect((await call(admin.port, '/healthz', headers)).status).toBe(200);
  });
});

describe('with one token for each role', () => {
  const tokens = new Map([
    ['operate', new Secret('operator')],
    ['read', new Secret('reader')],
    ['metrics', new Secret('prometheus')],
  ] as const);
  const page = { status: 200, type: 'text/plain', body: '' };
  const routes = [
    { method: 'GET', path: '/metrics', needs: 'metrics', handle: () => page },
    { method: 'GET', path: '/metrics/all', handle: () => page },
    { method: 'POST', path: '/metrics', handle: () => page },
    { method: 'POST', path: '/pause', handle: () => page },
  ] as const;

  it.each([
    ['operator', 'GET /metrics', 200],
    ['operator', 'GET /healthz', 200],
    ['operator', 'POST /pause', 200],
    ['reader', 'GET /metrics', 200],
    ['reader', 'GET /readyz', 200],
    ['reader', 'HEAD /healthz', 200],
    ['reader', 'POST /pause', 403],
    ['prometheus', 'GET /metrics', 200],
    ['prometheus', 'HEAD /metrics?name=x', 200],
    ['prometheus', 'POST /metrics', 403],
    ['prometheus', 'GET /metrics/all', 403],
    ['prometheus', 'GET /healthz', 403],
    ['prometheus', 'GET //metrics', 403],
    ['prometheus', 'POST /pause', 403],
    ['another', 'GET /metrics', 401],
  ])('the token %s may %s: %i', async (token, what, expected) => {
    await using admin = await start({ tokens, routes });
    const [method = '', path = ''] = what.split(' ');
    const { status } = await call(admin.port, path, { authorization: `Bearer ${token}` }, method);
    expect(status).toBe(expected);
  });
});

describe('it does not start', () => {
  it('on a port that is occupied', async () => {
    await using first = await start();
    await expect(start({ port: first.port })).rejects.toMatchObject({
      code: 'port-occupied',
      message: `The admin port 127.0.0.1:${first.port} is occupied.`,
      remedy: expect.stringMatching(
        /^Check first whether po-sync already runs.*set another admin\.port in po-sync\.yaml, or PO_SYNC_ADMIN_PORT=0.*admin\.port has no effect\.$/,
      ),
    });
  });

  it.each(['no-such-host.invalid', '192.0.2.1'])(
    'at an address of another machine: %s',
    async (host) => {
      await expect(
        start({ host, tokens: new Map([['operate', new Secret('x')]]) }),
      ).rejects.toMatchObject({
        code: 'admin-unavailable',
      });
    },
  );

  it('without a token if other machines could reach it', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'admin-token-missing' });
  });
});

it('ends at once despite open connections, and may be disposed of twice', async () => {
  const admin = await start();
  const socket = createConnection(admin.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  const closed = new Promise((resolve) =>
    socket.once('close', resolve).once('error', () => undefined),
  );
  await admin[Symbol.asyncDispose]();
  await closed;
  await admin[Symbol.asyncDispose]();
});
