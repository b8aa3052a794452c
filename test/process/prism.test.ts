import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchange } from '../support/exchange.ts';
import {
  bearerHeaders,
  formOf,
  goodOrder,
  type OpenSandbox,
  openSandbox,
} from '../support/open-sandbox.ts';
import { type PrismProxy, startPrismProxy } from '../support/prism-proxy.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const DOCUMENT = 'docs/openapi.yaml';

let sandbox: OpenSandbox;
let api: PrismProxy;
let token: string;

beforeAll(async () => {
  sandbox = await openSandbox();
  api = await startPrismProxy(DOCUMENT, sandbox.baseUrl);
  token = await sandbox.token();
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

const create = (order: unknown, more: Record<string, string> = {}) =>
  exchange('POST', `${api.url}/purchase-orders`, {
    headers: { ...bearerHeaders(token), ...more },
    body: JSON.stringify(order),
  });

test('an independent proxy confirms that every kind of answer matches docs/openapi.yaml', async () => {
  const list = (headers: Record<string, string>, query = '') =>
    exchange('GET', `${api.url}/purchase-orders${query}`, { headers });
  const seen = [
    await create(goodOrder('PO-1')),
    await create({ ...goodOrder('PO-ä-🙂', 2.5), note: 'not specified' }),
    await list(bearerHeaders(token)),
    await list(bearerHeaders(token), '?limit=1&offset=x'),
    await list(bearerHeaders('unknown')),
    await list(bearerHeaders(await sandbox.token('write'))),
    await create(
      { ...goodOrder('PO-2'), items: [{ articleCode: 'A', quantity: 1 }], orderState: 'NEW' },
      { accept: '*/*' },
    ),
  ];
  expect(seen.map(({ status }) => status)).toEqual([201, 201, 200, 200, 401, 403, 406]);
  for (const { headers } of seen) expect(headers['content-type']).toMatch(/^application\/json/);
});

test('the proxy confirms that the token endpoint matches docs/openapi.yaml', async () => {
  await using auth = await startPrismProxy(DOCUMENT, sandbox.authUrl);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = {
    grant_type: 'client_credentials',
    client_id: 'client-of-tests',
    client_secret: 'secret-of-tests',
  };
  const ask = (fields: Record<string, string>) =>
    exchange('POST', `${auth.url}/oauth2/token`, { headers, body: formOf({ ...form, ...fields }) });
  const seen = [
    await ask({}),
    await ask({ scope: 'nothing' }),
    await ask({ client_secret: 'wrong' }),
  ];
  expect(seen.map(({ status }) => status)).toEqual([200, 400, 401]);
});

test('the proxy stops a request and an answer that are not described', async () => {
  expect(await create({ ...goodOrder('PO-3'), orderState: 'DONE' })).toMatchObject({
    status: 422,
    headers: { 'content-type': 'application/problem+json' },
  });
  await using other = await openSandbox({ listShape: 'array' });
  await using proxy = await startPrismProxy(DOCUMENT, other.baseUrl);
  const headers = bearerHeaders(await other.token());
  expect(await exchange('GET', `${proxy.url}/purchase-orders`, { headers })).toMatchObject({
    status: 500,
    json: { type: expect.stringContaining('VIOLATIONS') },
  });
});

test('everything po-sync sends and receives while delivering a file matches docs/openapi.yaml', async () => {
  // The first calls through a cold proxy take their time.
  await using place = await openWorkplace({ pace: 'settle: 1s, timeout: 20s' });
  await using proxy = await startPrismProxy(DOCUMENT, place.api.baseUrl);
  await using auth = await startPrismProxy(DOCUMENT, place.api.authUrl);
  const config = await readFile(place.config, 'utf8');
  const proxied = config.replace(place.api.baseUrl, proxy.url).replace(place.api.authUrl, auth.url);
  await writeFile(place.config, proxied);
  await place.drop('orders.csv', csvOf(100));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(place.stored()).toEqual(
    new Map(Array.from({ length: 100 }, (_, nth) => [`PO-${nth + 1}`, 1])),
  );
});
