import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_ID, CLIENT_SECRET, formOf, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope } from './conform.ts';

let sandbox: OpenSandbox;

beforeAll(async () => {
  sandbox = await conformingSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const FORM = {
  grant_type: 'client_credentials',
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
};
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

describe('part 5, token endpoint', () => {
  test('a token is requested with POST at {auth_url}/oauth2/token', async () => {
    expect((await sandbox.requestToken()).status).toBe(200);
    const asked = await sandbox.call('GET', `${sandbox.authUrl}/oauth2/token?${formOf(FORM)}`);
    expect(asked).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
      json: errorEnvelope(405),
    });
  });

  test('an environment accepts the configured one of the two path spellings', async () => {
    await using other = await conformingSandbox({ tokenPath: '/oauth/token' });
    const options = { headers: FORM_TYPE, body: formOf(FORM) };
    for (const [one, path, status] of [
      [sandbox, '/oauth2/token', 200],
      [sandbox, '/oauth/token', 404],
      [other, '/oauth/token', 200],
      [other, '/oauth2/token', 404],
    ] as const) {
      expect((await one.call('POST', one.authUrl + path, options)).status).toBe(status);
    }
  });

  test('an environment can have its token endpoint on a host different from the API', async () => {
    await using uat = await conformingSandbox({ environment: 'uat', authPort: 0 });
    expect(new URL(uat.authUrl).host).not.toBe(new URL(uat.baseUrl).host);
    const token = await uat.token();
    expect((await uat.list(token)).status).toBe(200);
    const swapped = `${new URL(uat.baseUrl).origin}/oauth2/token`;
    expect(
      (await uat.call('POST', swapped, { headers: FORM_TYPE, body: formOf(FORM) })).status,
    ).toBe(404);
    expect((await uat.call('GET', `${uat.authUrl}/api/v1/purchase-orders`)).status).toBe(404);
  });
});

describe('part 5, token request', () => {
  test.each([undefined, 'application/json', 'multipart/form-data; boundary=x', 'text/plain'])(
    'Content-Type %s is an invalid request',
    async (type) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const answer = await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, {
        headers,
        body: formOf(FORM),
      });
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    },
  );

  test('Content-Type can have a charset', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };
    expect(
      (
        await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, {
          headers,
          body: formOf(FORM),
        })
      ).status,
    ).toBe(200);
  });

  test.each(['grant_type', 'client_id', 'client_secret'])(
    '%s is required, and an empty value counts as missing',
    async (field) => {
      for (const value of [undefined, '']) {
        const answer = await sandbox.requestToken({ [field]: value });
        const error_description = `The parameter ${field} is missing.`;
        expect(answer).toMatchObject({
          status: 400,
          json: { error: 'invalid_request', error_description },
        });
      }
    },
  );

  test.each(['authorization_code', 'password', 'Client_Credentials', 'client_credentials '])(
    'grant_type %s is not supported',
    async (grant_type) => {
      const answer = await sandbox.requestToken({ grant_type });
      expect(answer).toMatchObject({ status: 400, json: { error: 'unsupported_grant_type' } });
    },
  );

  test.each([
    { client_id: 'nobody' },
    { client_secret: 'wrong' },
    { client_secret: `${CLIENT_SECRET} ` },
    { client_secret: CLIENT_SECRET.slice(0, -1) },
    { client_id: CLIENT_SECRET, client_secret: CLIENT_ID },
    { client_secret: 'ä'.repeat(50) },
  ])('wrong credentials are an invalid client: %j', async (form) => {
    const answer = await sandbox.requestToken(form);
    expect(answer).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(answer.text).not.toContain(CLIENT_SECRET);
  });

  test('an unknown client and a wrong secret get the same answer', async () => {
    const unknown = await sandbox.requestToken({ client_id: 'nobody' });
    const wrong = await sandbox.requestToken({ client_secret: 'wrong' });
    expect(unknown.text).toBe(wrong.text);
  });

  test('a repeated parameter is an invalid request', async () => {
    const body = `${formOf(FORM)}&client_id=${CLIENT_ID}`;
    const answer = await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, {
      headers: FORM_TYPE,
      body,
    });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
  });

  test('an unknown parameter is ignored', async () => {
    expect((await sandbox.requestToken({ audience: 'x' })).status).toBe(200);
  });

  test('a form that is too large is an invalid request', async () => {
    const answer = await sandbox.requestToken({ extra: 'x'.repeat(20_000) });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
  });
});

describe('part 5, scope of the token request', () => {
  test.each(['read', 'write', 'admin', 'read write', 'write read admin', 'read read'])(
    'accepts "%s"',
    async (scope) => {
      expect((await sandbox.requestToken({ scope })).status).toBe(200);
    },
  );

  test('can be omitted', async () => {
    const token = await sandbox.token(undefined);
    expect((await sandbox.list(token)).status).toBe(200);
  });

  test.each(['delete', 'read delete', 'READ', 'read,write', ' read', 'read  write'])(
    'refuses "%s"',
    async (scope) => {
      expect(await sandbox.requestToken({ scope })).toMatchObject({
        status: 400,
        json: { error: 'invalid_scope' },
      });
    },
  );

  test('refuses a scope that these credentials do not have', async () => {
    await using reading = await conformingSandbox({ scopes: ['read'] });
    expect((await reading.requestToken({ scope: 'read' })).status).toBe(200);
    expect(await reading.requestToken({ scope: 'read write' })).toMatchObject({
      json: { error: 'invalid_scope' },
    });
  });
});

describe('part 5, token response', () => {
  test('contains only access_token, expires_in and token_type', async () => {
    const { json, headers } = await sandbox.requestToken({ scope: 'read write' });
    expect(json).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      token_type: 'Bearer',
    });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('contains no refresh token, and none is accepted (rule 3)', async () => {
    expect((await sandbox.requestToken()).json).not.toHaveProperty('refresh_token');
    const answer = await sandbox.requestToken({ grant_type: 'refresh_token', refresh_token: 'x' });
    expect(answer).toMatchObject({ status: 400, json: { error: 'unsupported_grant_type' } });
  });

  test('must not be cached, nor must a refusal', async () => {
    for (const answer of [
      await sandbox.requestToken(),
      await sandbox.requestToken({ client_secret: 'wrong' }),
    ]) {
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    }
  });

  test('every token is different, and all are valid', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => sandbox.token()));
    expect(new Set(tokens).size).toBe(20);
    for (const token of tokens) expect((await sandbox.list(token)).status).toBe(200);
  });
});
