import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import axios from 'axios';
import createClient from 'openapi-fetch';
import {
  allowInsecureRequests,
  Configuration,
  clientCredentialsGrant,
  fetchProtectedResource,
} from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  goodOrder,
  type OpenSandbox,
  openSandbox,
} from '../../support/open-sandbox.ts';
import type { components, paths } from './api.gen.ts';

/** The two headers that the API requires besides the token (API part 5, rule 4). */
const HEADERS = { accept: 'application/json', 'content-type': 'application/json' };
const FORM = {
  grant_type: 'client_credentials',
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
};

type Order = components['schemas']['PurchaseOrder'];

const orderOf = (
  purchaseOrderNumber: string,
  items = [{ articleCode: 'A-1', quantity: 1 }],
): Order => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items,
});
const refusal = (code: number) => ({
  status: 'error',
  error: { code, message: expect.any(String) },
});

let sandbox: OpenSandbox;

beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

// After a change of the document: npx vitest run test/sandbox/clients -u
test('api.gen.ts is what openapi-typescript generates from docs/openapi.yaml', async () => {
  const hook = path.resolve(import.meta.dirname, 'typescript-5.program.ts');
  const program = 'node_modules/openapi-typescript/bin/cli.js';
  const made = await promisify(execFile)(process.execPath, [
    '--import',
    hook,
    program,
    'docs/openapi.yaml',
  ]);
  await expect(made.stdout).toMatchFileSnapshot('api.gen.ts');
});

test('openapi-fetch with generated types: token, create, list, an error', async () => {
  const auth = createClient<paths>({ baseUrl: sandbox.authUrl });
  const granted = await auth.POST('/oauth2/token', {
    body: { ...FORM, grant_type: 'client_credentials' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const authorization = `Bearer ${granted.data?.access_token}`;
  const api = createClient<paths>({
    baseUrl: sandbox.baseUrl,
    headers: { ...HEADERS, authorization },
  });

  const created = await api.POST('/purchase-orders', { body: orderOf('PO-fetch') });
  expect(created.response.status).toBe(201);
  expect(created.data?.data.purchaseOrderNumber).toBe('PO-fetch');
  const listed = await api.GET('/purchase-orders');
  expect(listed.data?.data.purchaseOrders).toContainEqual(goodOrder('PO-fetch'));
  const refused = await api.POST('/purchase-orders', { body: orderOf('PO-none', []) });
  expect(refused.error).toEqual(refusal(400));
});

test('axios: token, create, list, an error', async () => {
  const form = new URLSearchParams(FORM);
  const granted = await axios.post<{ access_token: string }>(
    `${sandbox.authUrl}/oauth2/token`,
    form,
  );
  const authorization = `Bearer ${granted.data.access_token}`;
  const api = axios.create({ baseURL: sandbox.baseUrl, headers: { ...HEADERS, authorization } });

  expect((await api.post('/purchase-orders', orderOf('PO-axios'))).status).toBe(201);
  const listed = await api.get('/purchase-orders');
  expect(listed.data.data.purchaseOrders).toContainEqual(goodOrder('PO-axios'));
  const refused = await api.post('/purchase-orders', orderOf('')).catch((error: unknown) => error);
  expect(refused).toMatchObject({ response: { status: 400, data: refusal(400) } });
});

test('openid-client: token, create, list, an error', async () => {
  const server = { issuer: sandbox.authUrl, token_endpoint: `${sandbox.authUrl}/oauth2/token` };
  const config = new Configuration(server, CLIENT_ID, CLIENT_SECRET);
  allowInsecureRequests(config);
  const granted = await clientCredentialsGrant(config, { scope: 'read write' });
  const orders = new URL(`${sandbox.baseUrl}/purchase-orders`);
  const call = (method: string, order?: Order) =>
    fetchProtectedResource(
      config,
      granted.access_token,
      orders,
      method,
      order && JSON.stringify(order),
      new Headers(HEADERS),
    );

  expect((await call('POST', orderOf('PO-openid'))).status).toBe(201);
  expect(await (await call('GET')).json()).toMatchObject({
    data: { purchaseOrders: expect.arrayContaining([goodOrder('PO-openid')]) },
  });
  expect(await (await call('POST', orderOf('PO-none', []))).json()).toEqual(refusal(400));
  await expect(clientCredentialsGrant(config, { scope: 'unknown' })).rejects.toMatchObject({
    error: 'invalid_scope',
  });
});

const oauthClient = (
  options: { authorizationMethod?: 'header' | 'body' } = {},
  { secret = CLIENT_SECRET, tokenHost = sandbox.authUrl } = {},
) =>
  new ClientCredentials({
    client: { id: CLIENT_ID, secret },
    auth: { tokenHost, tokenPath: '/oauth2/token' },
    options,
  });

test('simple-oauth2: token, create, list, an error', async () => {
  const { token } = await oauthClient().getToken({ scope: 'read write' });
  const headers = { ...HEADERS, authorization: `Bearer ${String(token.access_token)}` };
  const url = `${sandbox.baseUrl}/purchase-orders`;
  const call = (method: string, order?: Order) =>
    fetch(url, { method, headers, ...(order && { body: JSON.stringify(order) }) });

  expect((await call('POST', orderOf('PO-simple'))).status).toBe(201);
  expect(await (await call('GET')).json()).toMatchObject({
    data: { purchaseOrders: expect.arrayContaining([goodOrder('PO-simple')]) },
  });
  expect(await (await call('POST', orderOf('PO-none', []))).json()).toEqual(refusal(400));
  const wrong = oauthClient({}, { secret: 'wrong' }).getToken({});
  await expect(wrong).rejects.toMatchObject({ data: { payload: { error: 'invalid_client' } } });
});
