import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchange } from '../../support/exchange.ts';
import { bearerHeaders, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, headersWith } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test('part 9: /api/v1 is part of every API address', async () => {
  expect(new URL(sandbox.baseUrl).pathname).toBe('/api/v1');
  const { origin } = new URL(sandbox.baseUrl);
  const headers = bearerHeaders(token);
  expect((await sandbox.call('GET', `${origin}/api/v1/purchase-orders`, { headers })).status).toBe(
    200,
  );
  for (const prefix of ['', '/api', '/v1', '/api/v2', '/API/V1', '//api/v1', '/api/v1/api/v1']) {
    expect(
      (await sandbox.call('GET', `${origin}${prefix}/purchase-orders`, { headers })).status,
    ).toBe(404);
  }
});

test('part 9: below /api/v1 every address requires a token, also openapi.json', async () => {
  expect((await sandbox.call('GET', '/openapi.json')).status).toBe(401);
  const { origin } = new URL(sandbox.baseUrl);
  expect(await exchange('GET', `${origin}/openapi.json`)).toMatchObject({
    status: 200,
    json: { openapi: '3.1.0' },
  });
  expect(await exchange('GET', `${origin}/healthz`)).toMatchObject({
    status: 200,
    json: { status: 'ok' },
  });
});

test.each([{ 'accept-version': '2' }, { 'api-version': '2021-01-01' }, { 'x-api-version': '9' }])(
  'part 9: no version can be selected: %j has no effect',
  async (selection) => {
    const headers = headersWith(token, selection);
    expect((await sandbox.call('GET', '/purchase-orders?version=2', { headers })).status).toBe(200);
  },
);

test('part 9: a versioned media type is not application/json', async () => {
  const headers = headersWith(token, { accept: 'application/vnd.orders.v2+json' });
  expect((await sandbox.call('GET', '/purchase-orders', { headers })).status).toBe(406);
});
