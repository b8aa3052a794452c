import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type ListEnd, type ListedOrder, listOrders } from '../../src/api/list.ts';
import { openHttp } from '../../src/core/http.ts';
import { goodOrder, openSandbox } from '../support/open-sandbox.ts';

const ITEMS = [{ articleCode: 'A-1', quantity: 1 }];

async function listFrom(baseUrl: string, value: string): Promise<{ end: ListEnd; orders: ListedOrder[] }> {
  await using http = openHttp({ connections: 1 });
  const partner = { environment: 'staging', baseUrl, timeout: 1000 };
  const orders: ListedOrder[] = [];
  const end = await listOrders(http, partner, { value, fingerprint: 'm', environment: 'staging', baseUrl }, (one) =>
    orders.push(one),
  );
  return { end, orders };
}

/** A list endpoint that answers just this. */
async function listOf(body: string, status = 200) {
  const server = createServer((_, answer) => answer.writeHead(status).end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    return await listFrom(`http://127.0.0.1:${port}/api/v1`, 'token');
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('listOrders', () => {
  it.each(['array', 'object'] as const)('reads the %s shape of the reference API', async (listShape) => {
    await using api = await openSandbox({ listShape });
    const token = await api.token();
    for (const number of ['1', '2', '3']) await api.create(goodOrder(number), token);
    const { end, orders } = await listFrom(api.baseUrl, token);
    expect(end).toEqual({ kind: 'complete', orders: 3 });
    expect(orders).toEqual(['1', '2', '3'].map((purchaseOrderNumber) => ({ purchaseOrderNumber, items: ITEMS })));
  });

  it('reads a list without items', async () => {
    await using api = await openSandbox({ listItems: false, listShape: 'array' });
    const token = await api.token();
    await api.create(goodOrder('1'), token);
    expect((await listFrom(api.baseUrl, token)).orders).toEqual([{ purchaseOrderNumber: '1' }]);
  });

  it('takes an empty list for complete', async () => {
    expect((await listOf('{"status":"success","data":[],"error":null}')).end).toEqual({ kind: 'complete', orders: 0 });
    expect((await listOf('{"status":"success","data":{"purchaseOrders":[]},"error":null}')).end).toEqual({
      kind: 'complete',
      orders: 0,
    });
  });

  it.each<[string, string]>([
    ['truncated', '{"status":"success","data":[{"purchaseOrderNumber":"1"}'],
    ['an error with HTTP 200', '{"status":"error","error":{"code":500,"message":"no"},"data":[]}'],
    ['HTML', '<html>Login</html>'],
    ['nothing', ''],
    ['orders without numbers', '{"status":"success","data":[{"id":1}],"error":null}'],
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
    expect((await listOf('{"status":"error","error":{"code":1,"message":"no"}}', status)).end.kind).toBe(kind);
  });
});
