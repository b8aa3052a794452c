import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_SECRET, goodOrder, type OpenSandbox } from '../../support/open-sandbox.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { until } from '../../support/until.ts';
import { conformingSandbox, errorEnvelope, headersWith } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('part 5, rule 1: every API request carries Authorization: Bearer <ACCESS_TOKEN>', () => {
  test('without it: 401, a challenge without an error code', async () => {
    const headers = headersWith(token, { authorization: undefined });
    const answer = await sandbox.call('GET', '/purchase-orders', { headers });
    expect(answer).toMatchObject({ status: 401, json: errorEnvelope(401) });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="staging"');
  });

  test.each([
    ['another scheme', () => `Basic ${token}`],
    ['no token', () => 'Bearer'],
    ['an empty token', () => 'Bearer '],
    ['two tokens', () => `Bearer ${token} ${token}`],
    ['an unknown token', () => `Bearer ${'x'.repeat(43)}`],
    [
      'a token with one letter changed',
      () => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    ],
    ['a token in other letter case', () => `Bearer ${token.toUpperCase()}`],
  ])('%s: 401 and invalid_token', async (_, authorization) => {
    const headers = headersWith(token, { authorization: authorization() });
    const answer = await sandbox.call('POST', '/purchase-orders', {
      headers,
      body: JSON.stringify(goodOrder('PO-1')),
    });
    expect(answer).toMatchObject({ status: 401, json: errorEnvelope(401) });
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="staging", error="invalid_token"/,
    );
  });

  test('the scheme is case-insensitive', async () => {
    const headers = headersWith(token, { authorization: `bearer ${token}` });
    expect((await sandbox.call('GET', '/purchase-orders', { headers })).status).toBe(200);
  });

  test('a token in the address or body is ignored', async () => {
    const headers = headersWith(token, { authorization: undefined });
    const answer = await sandbox.call('GET', `/purchase-orders?access_token=${token}`, { headers });
    expect(answer.status).toBe(401);
  });
});

test('part 5, rule 2: an expired token is refused, and a new one is accepted', async () => {
  await using short = await conformingSandbox({ tokenLifetime: 1 });
  const { json } = await short.requestToken();
  expect(json.expires_in).toBe(1);
  const old = String(json.access_token);
  expect((await short.list(old)).status).toBe(200);
  const refused = await until('the token to expire', async () => {
    const answer = await short.list(old);
    return answer.status === 401 && answer;
  });
  expect(refused.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(refused.json).toEqual(errorEnvelope(401, 'The access token has expired.'));
  expect((await short.list(await short.token())).status).toBe(200);
});

describe('part 5, rule 4: required headers on all requests', () => {
  test.each(['GET', 'POST'])(
    '%s without Content-Type: application/json is refused with 415',
    async (method) => {
      const headers = headersWith(token, { 'content-type': undefined });
      const answer = await sandbox.call(method, '/purchase-orders', { headers });
      expect(answer).toMatchObject({
        status: 415,
        json: errorEnvelope(415, expect.stringContaining('Content-Type')),
      });
    },
  );

  test.each([undefined, '*/*', 'text/html', 'application/xml, text/*', 'application/json;q=0'])(
    'Accept %s is refused with 406',
    async (accept) => {
      for (const method of ['GET', 'POST']) {
        const answer = await sandbox.call(method, '/purchase-orders', {
          headers: headersWith(token, { accept }),
        });
        expect(answer).toMatchObject({
          status: 406,
          json: errorEnvelope(406, expect.stringContaining('Accept')),
        });
      }
    },
  );

  test.each(['application/json', 'text/html, application/json;q=0.9', 'APPLICATION/JSON'])(
    'Accept %s is accepted',
    async (accept) => {
      const headers = headersWith(token, { accept });
      expect((await sandbox.call('GET', '/purchase-orders', { headers })).status).toBe(200);
    },
  );
});

describe('part 5, scopes', () => {
  test.each([
    ['read', 200, 403],
    ['write', 403, 201],
    ['admin', 200, 201],
    ['read write', 200, 201],
  ])('%s: retrieving gives %d, creating %d', async (scope, retrieving, creating) => {
    const scoped = await sandbox.token(scope);
    const answers = [
      await sandbox.list(scoped),
      await sandbox.create(goodOrder(`PO-${scope}`), scoped),
    ];
    expect(answers.map(({ status }) => status)).toEqual([retrieving, creating]);
    for (const { status, headers, json } of answers.filter(({ status }) => status === 403)) {
      expect(json).toEqual(errorEnvelope(status));
      const missing = scope === 'read' ? 'write' : 'read';
      expect(headers['www-authenticate']).toMatch(
        new RegExp(`error="insufficient_scope".*, scope="${missing}"$`),
      );
    }
  });

  test('a token requested without a scope has all scopes of its credentials', async () => {
    await using reading = await conformingSandbox({ scopes: ['read'] });
    const own = await reading.token();
    expect((await reading.list(own)).status).toBe(200);
    expect((await reading.create(goodOrder('PO-1'), own)).status).toBe(403);
  });
});

describe('part 5, security practices', () => {
  test('addresses can be restricted: other addresses get 403 everywhere', async () => {
    await using guarded = await conformingSandbox({
      allowIp: ['127.0.0.2', '127.1.0.0/16', 'fd00::/8'],
      authPort: 0,
    });
    const calls = ['/purchase-orders', `${guarded.authUrl}/oauth2/token`, '/nowhere'];
    for (const path of calls) {
      for (const [localAddress, let_in] of [
        ['127.0.0.1', false],
        ['127.0.0.2', true],
        ['127.1.9.9', true],
      ] as const) {
        const { status } = await guarded.call('GET', path, { localAddress });
        expect([path, localAddress, status !== 403]).toEqual([path, localAddress, let_in]);
      }
    }
  });

  test('the data folder contains neither tokens nor secrets in plain text', async () => {
    await using folder = await makeTempFolder();
    await using own = await conformingSandbox({ data: folder.path });
    const issued = await own.token();
    await own.create(goodOrder('PO-1'), issued);
    const names = await readdir(folder.path);
    expect(names).toContain('staging.sqlite-wal');
    for (const name of names) {
      const bytes = await readFile(join(folder.path, name));
      expect(bytes.includes(issued)).toBe(false);
      expect(bytes.includes(CLIENT_SECRET)).toBe(false);
    }
  });
});
