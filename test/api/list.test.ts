import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ListedOrder } from '../../src/api/list.ts';
import { type ListEnd, listOrders } from '../../src/api/list.ts';
import { openHttp } from '../../src/core/http.ts';
import { createListBudget } from '../../src/ledger/adopt.ts';
import { goodOrder, openSandbox } from '../support/open-sandbox.ts';
import { openWebServer } from '../support/web-server.ts';

const ITEMS = [{ articleCode: 'A-1', quantity: 1 }];

async function listFrom(
  baseUrl: string,
  value: string,
  more: { secrets?: string[]; onOrder?: (order: ListedOrder) => void } = {},
): Promise<{ end: ListEnd; orders: ListedOrder[] }> {
  await using http = openHttp({ connections: 1 });
  const orders: ListedOrder[] = [];
  const { secrets = [], onOrder = (one) => void orders.push(one) } = more;
  const partner = { environment: 'staging', baseUrl, timeout: 60_000, secrets };
  const token = { value, fingerprint: 'm', environment: 'staging', baseUrl };
  const end = await listOrders(http, partner, token, onOrder);
  return { end, orders };
}

/** A list endpoint that answers just this. */
async function listOf(body: string, status = 200, more: Parameters<typeof listFrom>[2] = {}) {
  const server = createServer((_, answer) => answer.writeHead(status).end(body)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    return await listFrom(`http://127.0.0.1:${port}/api/v1`, 'the-token', more);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('listOrders', () => {
  it.each(['array', 'object'] as const)(
    'reads the %s shape of the reference API',
    async (listShape) => {
      await using api = await openSandbox({ listShape });
      const token = await api.token();
      for (const number of ['1', '2', '3']) await api.create(goodOrder(number), token);
      const { end, orders } = await listFrom(api.baseUrl, token);
      expect(end).toEqual({ kind: 'complete', orders: 3 });
      expect(orders).toEqual(
        ['1', '2', '3'].map((purchaseOrderNumber) => ({ purchaseOrderNumber, items: ITEMS })),
      );
    },
  );

  it('leaves out orders and items that repeat a secret', async () => {
    const rows = ['PO-2026-1', 'the-secret', 'also the-token'].map((number) => ({
      purchaseOrderNumber: number,
      items: ITEMS,
    }));
    rows.push({ purchaseOrderNumber: '2', items: [{ articleCode: 'x the-secret', quantity: 1 }] });
    const body = JSON.stringify({ status: 'success', data: rows, error: null });
    // Another secret is so short that it occurs in numbers by chance.
    const { end, orders } = await listOf(body, 200, { secrets: ['the-secret', '2026'] });
    expect(end).toEqual({ kind: 'complete', orders: 4 });
    expect(orders).toEqual([
      { purchaseOrderNumber: 'PO-2026-1', items: ITEMS },
      { purchaseOrderNumber: '2' },
    ]);
  });

  it.each([
    ['a thousand lists', `{${Array.from({ length: 1_001 }, (_, i) => `"list${i}":[]`).join()}}`],
    [
      'an order of 17 MB',
      `[{"purchaseOrderNumber":"1","items":[${`{"articleCode":"${'x'.repeat(1_000_000)}","quantity":1},`.repeat(17)}{}]}]`,
    ],
  ])('stops at %s', async (_, data) => {
    expect((await listOf(`{"status":"success","data":${data},"error":null}`)).end.kind).toBe(
      'failed',
    );
  });

  it('fails with the reason when its reader has no room for more orders', async () => {
    const data = JSON.stringify(
      Array.from({ length: 50 }, (_, i) => ({ purchaseOrderNumber: String(i) })),
    );
    const onOrder = createListBudget(2_000);
    const { end } = await listOf(`{"status":"success","data":${data},"error":null}`, 200, {
      onOrder,
    });
    expect(end).toMatchObject({
      kind: 'failed',
      said: { message: expect.stringContaining('the list has more than 12 orders') },
    });
  });

  it('reads a list without items', async () => {
    await using api = await openSandbox({ listItems: false, listShape: 'array' });
    const token = await api.token();
    await api.create(goodOrder('1'), token);
    expect((await listFrom(api.baseUrl, token)).orders).toEqual([{ purchaseOrderNumber: '1' }]);
  });

  const ONE = '{"purchaseOrderNumber":"1"}';
  const order = (number: string) => ({ purchaseOrderNumber: number });

  it.each<[string, string, number]>([
    ['a paging object beside the list', `{"page":{"limit":100,"offset":0},"orders":[${ONE}]}`, 1],
    [
      'a paging object with lists of its own',
      `{"page":{"links":["a","b"],"sizes":[10,50]},"orders":[${ONE}]}`,
      1,
    ],
    ['a total that agrees', `{"total":1,"orders":[${ONE}]}`, 1],
    ['the list deeper in data', `{"result":{"orders":[${ONE}]}}`, 1],
    ['a number that occurs twice', `[${ONE},${ONE}]`, 2],
    ['warnings beside the list', `{"warnings":["slow"],"orders":[${ONE}]}`, 1],
    ['fields that nobody knows', `[{"lines":[[{"a":[]}]],"purchaseOrderNumber":"1"}]`, 1],
  ])('finds the orders by their content: %s', async (_, data, count) => {
    const { end, orders } = await listOf(`{"status":"success","data":${data},"error":null}`);
    expect(end).toEqual({ kind: 'complete', orders: count });
    expect(orders).toEqual(Array.from({ length: count }, () => order('1')));
  });

  it('aborts a list that stops sending', async () => {
    await using server = await openWebServer(
      (_, answer) => void answer.writeHead(200).write('{"status":"success",'),
    );
    await using http = openHttp({ connections: 1 });
    const endpoint = {
      environment: 'staging',
      baseUrl: `http://127.0.0.1:${server.port}/api/v1`,
      timeout: 1000,
    };
    const token = { value: 'token', fingerprint: 'm', ...endpoint };
    const end = await listOrders(http, endpoint, token, () => undefined, { idle: 100 });
    expect(end).toMatchObject({ kind: 'failed', said: { message: 'no data for 0.1 s' } });
  });

  it('accepts an empty list as complete', async () => {
    expect((await listOf('{"status":"success","data":[],"error":null}')).end).toEqual({
      kind: 'complete',
      orders: 0,
    });
    expect(
      (await listOf('{"status":"success","data":{"purchaseOrders":[]},"error":null}')).end,
    ).toEqual({
      kind: 'complete',
      orders: 0,
    });
  });

  it('accepts an empty list by its name beside an array of other values', async () => {
    const data = '{"links":["self","next"],"purchaseOrders":[]}';
    const { end } = await listOf(`{"status":"success","data":${data},"error":null}`);
    expect(end).toEqual({ kind: 'complete', orders: 0 });
  });

  it.each<[string, string]>([
    ['truncated', '{"status":"success","data":[{"purchaseOrderNumber":"1"}'],
    ['an error with HTTP 200', '{"status":"error","error":{"code":500,"message":"no"},"data":[]}'],
    ['HTML', '<html>Login</html>'],
    ['nothing', ''],
    ['orders without numbers', '{"status":"success","data":[{"id":1}],"error":null}'],
    ['bare strings', '{"status":"success","data":["1","2"],"error":null}'],
    ['bare numbers in an object', '{"status":"success","data":{"orders":[1,2]},"error":null}'],
    [
      'a number that is no text',
      '{"status":"success","data":[{"purchaseOrderNumber":1}],"error":null}',
    ],
    ['an empty number', '{"status":"success","data":[{"purchaseOrderNumber":""}],"error":null}'],
    [
      'orders among other things',
      `{"status":"success","data":[{"purchaseOrderNumber":"1"},"2"],"error":null}`,
    ],
    [
      'an empty list beside strings',
      '{"status":"success","data":{"orders":[],"numbers":["1"]},"error":null}',
    ],
    [
      'the named list with strings',
      '{"status":"success","data":{"purchaseOrders":["1"],"warnings":[]},"error":null}',
    ],
    ['lists in a list', '{"status":"success","data":[["1"]],"error":null}'],
    [
      'a part of the total',
      '{"status":"success","data":{"total":2,"orders":[{"purchaseOrderNumber":"1"}]},"error":null}',
    ],
    [
      'one page of several',
      '{"status":"success","data":{"hasMore":true,"orders":[{"purchaseOrderNumber":"1"}]},"error":null}',
    ],
    ['two values', '{"status":"success","data":[],"error":null}{}'],
    ['no JSON', '{"status":"success","data":[{"purchaseOrderNumber" "1"}],"error":null}'],
    [
      'deep nesting',
      `{"status":"success","data":{"x":${'['.repeat(100)}${']'.repeat(100)},"o":[]},"error":null}`,
    ],
    [
      'a text without end',
      `{"status":"success","data":[{"purchaseOrderNumber":"${'x'.repeat(3_000_000)}"}],"error":null}`,
    ],
    ['no data', '{"status":"success","error":null}'],
    ['data that holds no list', '{"status":"success","data":{"total":5},"error":null}'],
  ])('never takes it for complete: %s', async (_, body) => {
    expect((await listOf(body)).end.kind).toBe('failed');
  });

  it.each([
    [403, 'unavailable'],
    [404, 'unavailable'],
    [405, 'unavailable'],
    [501, 'unavailable'],
    [401, 'unauthorized'],
    [500, 'failed'],
    [503, 'failed'],
  ])('HTTP %i is %s', async (status, kind) => {
    expect(
      (await listOf('{"status":"error","error":{"code":1,"message":"no"}}', status)).end.kind,
    ).toBe(kind);
  });
});
