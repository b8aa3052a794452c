import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bearerHeaders,
  createOrders,
  goodOrder,
  type OpenSandbox,
} from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope, headersWith } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('part 4, GET /purchase-orders', () => {
  test('returns every order, sorted by creation', async () => {
    await using fresh = await conformingSandbox();
    const own = await fresh.token();
    expect(await fresh.orders(own)).toEqual([]);
    const numbers = Array.from({ length: 534 }, (_, nth) => `PO-${nth}`);
    for (const number of numbers.slice(0, 3)) await fresh.create(goodOrder(number), own);
    await createOrders(fresh, numbers.slice(3), own);
    const listed = await fresh.orders(own);
    expect(listed.slice(0, 3)).toEqual(numbers.slice(0, 3).map((number) => goodOrder(number)));
    expect(new Set(listed.map((order) => JSON.stringify(order)))).toEqual(
      new Set(numbers.map((number) => JSON.stringify(goodOrder(number)))),
    );
  });

  test('needs no request payload and ignores one', async () => {
    const headers = bearerHeaders(token);
    expect(
      (await sandbox.call('GET', '/purchase-orders', { headers, body: '{not json' })).status,
    ).toBe(200);
  });

  test.each([
    'limit=1',
    'offset=1',
    'limit=0&offset=5',
    'limit=-3',
    'limit=x',
    'limit=1&limit=2',
    'filter=PO-1',
    '%zz',
    '?',
  ])('limit and offset are reserved and have no effect: ?%s', async (query) => {
    await sandbox.create(goodOrder('PO-a'), token);
    await sandbox.create(goodOrder('PO-b'), token);
    const headers = bearerHeaders(token);
    const plain = await sandbox.call('GET', '/purchase-orders', { headers });
    expect((await sandbox.call('GET', `/purchase-orders?${query}`, { headers })).text).toBe(
      plain.text,
    );
  });

  test.each([
    ['object', true, { purchaseOrders: [goodOrder('PO-1')] }],
    ['object', false, { purchaseOrders: [{ purchaseOrderNumber: 'PO-1', orderState: 'NEW' }] }],
    ['array', true, [goodOrder('PO-1')]],
    ['array', false, [{ purchaseOrderNumber: 'PO-1', orderState: 'NEW' }]],
  ] as const)(
    'the shape of data is a setting: %s, items %s',
    async (listShape, listItems, data) => {
      await using shaped = await conformingSandbox({ listShape, listItems });
      const own = await shaped.token();
      await shaped.create(goodOrder('PO-1'), own);
      expect((await shaped.list(own)).json).toEqual({ status: 'success', data, error: null });
    },
  );
});

describe('part 4, POST /purchase-orders', () => {
  test('creates an order and returns purchaseOrderNumber and orderState, error null', async () => {
    const answer = await sandbox.create(goodOrder('PO-new'), token);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      status: 'success',
      data: { purchaseOrderNumber: 'PO-new', orderState: 'NEW' },
      error: null,
    });
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; profile="https://example.com/order"; charset=utf-8',
    'application/json;odata.metadata=minimal',
  ])('accepts Content-Type %s', async (type) => {
    const headers = headersWith(token, { 'content-type': type });
    const body = JSON.stringify(goodOrder('PO-type'));
    expect((await sandbox.call('POST', '/purchase-orders', { headers, body })).status).toBe(201);
  });

  test.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=iso-8859-1',
    'application/json; profile=x; charset=latin1',
    'application/jsonx',
    '',
  ])('refuses Content-Type %s', async (type) => {
    const headers = headersWith(token, { 'content-type': type });
    const body = JSON.stringify(goodOrder('PO-type'));
    const answer = await sandbox.call('POST', '/purchase-orders', { headers, body });
    expect(answer).toMatchObject({
      status: 415,
      json: errorEnvelope(415, expect.stringContaining('Content-Type')),
    });
  });

  test('a repeated number creates another order or is refused with 409, depending on --on-duplicate', async () => {
    await using accepting = await conformingSandbox({ onDuplicate: 'accept' });
    await using refusing = await conformingSandbox({ onDuplicate: 'refuse' });
    for (const [one, second, stored] of [
      [accepting, 201, 2],
      [refusing, 409, 1],
    ] as const) {
      const own = await one.token();
      expect((await one.create(goodOrder('PO-1'), own)).status).toBe(201);
      expect((await one.create(goodOrder('PO-1', 9), own)).status).toBe(second);
      expect(await one.orders(own)).toHaveLength(stored);
    }
  });

  test('of many concurrent orders with the same number, one is stored if duplicates are refused', async () => {
    await using refusing = await conformingSandbox({ onDuplicate: 'refuse' });
    const own = await refusing.token();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refusing.create(goodOrder('PO-1'), own)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
  });
});

test('part 4, methods: HEAD is GET without a body (RFC 9110 section 9.3.2)', async () => {
  const headers = bearerHeaders(token);
  expect(await sandbox.call('HEAD', '/purchase-orders', { headers })).toMatchObject({
    status: 200,
    text: '',
  });
  expect(await sandbox.call('HEAD', '/purchase-orders')).toMatchObject({ status: 401, text: '' });
});

test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'part 4, methods: %s on the collection is not specified',
  async (method) => {
    const answer = await sandbox
      .call(method, '/purchase-orders', { headers: bearerHeaders(token), body: '{}' })
      .catch((error: unknown) => error);
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
  },
);
