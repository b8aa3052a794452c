import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerHeaders, goodOrder, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope } from './conform.ts';

let staging: OpenSandbox;
let uat: OpenSandbox;

beforeAll(async () => {
  staging = await conformingSandbox({ environment: 'staging' });
  uat = await conformingSandbox({
    environment: 'uat',
    clientId: 'uat-client',
    clientSecret: 'uat-secret',
  });
});
afterAll(async () => {
  await staging[Symbol.asyncDispose]();
  await uat[Symbol.asyncDispose]();
});

test('part 1: the service speaks JSON over HTTP', async () => {
  const token = await staging.token();
  const answers = [await staging.create(goodOrder('PO-1'), token), await staging.list(token)];
  for (const { headers, text } of answers) {
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(() => JSON.parse(text)).not.toThrow();
  }
});

test('part 1: clients authenticate with the client credentials grant and send the bearer token with every call', async () => {
  const { status, json } = await staging.requestToken();
  expect(status).toBe(200);
  const headers = bearerHeaders(String(json.access_token));
  expect((await staging.call('GET', '/purchase-orders', { headers })).status).toBe(200);
  const { authorization: _, ...without } = headers;
  expect((await staging.call('GET', '/purchase-orders', { headers: without })).status).toBe(401);
});

test('part 1: credentials of one environment get no token in another', async () => {
  const form = { client_id: 'uat-client', client_secret: 'uat-secret' };
  expect((await uat.requestToken(form)).status).toBe(200);
  expect(await staging.requestToken(form)).toMatchObject({
    status: 401,
    json: { error: 'invalid_client' },
  });
});

test('part 1: a token of one environment is valid in that environment only', async () => {
  const token = await staging.token();
  expect((await staging.list(token)).status).toBe(200);
  expect(await uat.list(token)).toMatchObject({ status: 401, json: errorEnvelope(401) });
});

test.each(['/invoices', '/inventory', '/transactions'])(
  'part 1: %s is only an example and does not exist',
  async (path) => {
    const headers = bearerHeaders(await staging.token());
    expect(await staging.call('GET', path, { headers })).toMatchObject({
      status: 404,
      json: errorEnvelope(404),
    });
  },
);
