import { describe, expect, it } from 'vitest';
import { createOrders } from '../../src/api/create.ts';
import { type ListedOrder, listOrders } from '../../src/api/list.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openHttp } from '../../src/core/http.ts';
import { createRecordKind, PURCHASE_ORDER } from '../../src/order/record-kind.ts';
import { openWebServer } from '../support/web-server.ts';

/** A kind that exists only here: adding one takes this and nothing else. */
const INVOICE = createRecordKind({
  path: '/invoices',
  fields: {
    number: 'invoiceNumber',
    state: 'status',
    items: 'lines',
    article: 'sku',
    quantity: 'amount',
  },
  state: 'DRAFT',
});

/** An API that keeps what is created and lists it, both in the envelope. */
async function openInvoiceApi() {
  const calls: { method: string | undefined; url: string | undefined; body: string }[] = [];
  const server = await openWebServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    calls.push({ method: request.method, url: request.url, body });
    const kept = calls
      .filter(({ method }) => method === 'POST')
      .map((call) => JSON.parse(call.body));
    const data = request.method === 'POST' ? JSON.parse(body) : kept;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', data, error: null }));
  });
  const baseUrl = `http://127.0.0.1:${server.port}/api/v1`;
  return { calls, baseUrl, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe('a second kind of record', () => {
  it('is created at its path and found in its list', async () => {
    const items = [
      { articleCode: 'A', quantity: 2 },
      { articleCode: 'B', quantity: 1 },
    ];
    const order = { purchaseOrderNumber: 'I-1', orderState: 'DRAFT', items };
    await using api = await openInvoiceApi();
    await using http = openHttp({ connections: 1 });
    const { baseUrl } = api;
    const partner = { environment: 'staging', baseUrl, timeout: 1000, kind: INVOICE };
    const token = { value: 'token', fingerprint: 'f', environment: 'staging', baseUrl };
    const create = createOrders(http, partner, systemClock);
    expect(await create(token, order, async () => true)).toEqual({ kind: 'accepted' });
    const listed: ListedOrder[] = [];
    expect(await listOrders(http, partner, token, (one) => listed.push(one))).toEqual({
      kind: 'complete',
      orders: 1,
    });

    const body =
      '{"invoiceNumber":"I-1","status":"DRAFT","lines":[{"sku":"A","amount":2},{"sku":"B","amount":1}]}';
    expect(api.calls).toEqual([
      { method: 'POST', url: '/api/v1/invoices', body },
      { method: 'GET', url: '/api/v1/invoices', body: '' },
    ]);
    expect(listed).toEqual([{ purchaseOrderNumber: 'I-1', items: order.items }]);
  });
});

describe('a purchase order', () => {
  it('is sent as exactly the documented fields in their order', () => {
    const order = {
      purchaseOrderNumber: '1',
      orderState: 'NEW',
      items: [{ articleCode: 'A', quantity: 1.5, more: 1 }],
    };
    expect(PURCHASE_ORDER.payload({ ...order })).toBe(
      '{"purchaseOrderNumber":"1","orderState":"NEW","items":[{"articleCode":"A","quantity":1.5}]}',
    );
  });

  it.each([
    [
      { purchaseOrderNumber: '1', items: [{ articleCode: 'A', quantity: '1' }] },
      { purchaseOrderNumber: '1' },
    ],
    [
      { purchaseOrderNumber: '1', items: [] },
      { purchaseOrderNumber: '1', items: [] },
    ],
    [{ purchaseOrderNumber: 1 }, undefined],
    ['1', undefined],
    [null, undefined],
  ])('%j is read back as %j', (value, read) => {
    expect(PURCHASE_ORDER.read(value)).toEqual(read);
  });
});
