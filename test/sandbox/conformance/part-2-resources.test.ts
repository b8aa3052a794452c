import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultFile } from '../../../src/sandbox/faults/fault-file.ts';
import { bearerHeaders, goodOrder, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const item = { articleCode: 'A-1', quantity: 1 };

describe('part 2, purchase order', () => {
  test('purchaseOrderNumber is chosen by the client and returned in responses', async () => {
    const number = 'Bestellung 0007/ä-β-発注-🙂';
    const { json } = await sandbox.create(goodOrder(number), token);
    expect(json).toMatchObject({ data: { purchaseOrderNumber: number } });
    expect(await sandbox.orders(token)).toContainEqual(goodOrder(number));
  });

  test('orderState is sent on creation and returned in responses', async () => {
    const { json } = await sandbox.create(goodOrder('PO-state'), token);
    expect(json).toMatchObject({ data: { orderState: 'NEW' } });
  });

  test('items are the lines of the order, kept in sequence with repetitions', async () => {
    const items = [
      { articleCode: 'B', quantity: 2 },
      { articleCode: 'A', quantity: 10 },
      { articleCode: 'B', quantity: 2 },
    ];
    await sandbox.create({ ...goodOrder('PO-lines'), items }, token);
    expect(await sandbox.orders(token)).toContainEqual({ ...goodOrder('PO-lines'), items });
  });

  test('leading zeros and outer spaces of codes are preserved', async () => {
    const order = { ...goodOrder(' 000123 '), items: [{ articleCode: '0007 ', quantity: 1 }] };
    await sandbox.create(order, token);
    expect(await sandbox.orders(token)).toContainEqual(order);
  });

  test.each([1, 3.5, 1e15, 0.001])('quantity is a number: %d', async (quantity) => {
    const number = `PO-quantity-${quantity}`;
    expect((await sandbox.create(goodOrder(number, quantity), token)).status).toBe(201);
    expect(await sandbox.orders(token)).toContainEqual(goodOrder(number, quantity));
  });

  test('unspecified fields are accepted and discarded', async () => {
    const order = goodOrder('PO-more');
    const more = { ...order, note: 'x', items: [{ ...item, unit: 'kg' }] };
    expect((await sandbox.create(more, token)).status).toBe(201);
    expect(await sandbox.orders(token)).toContainEqual(order);
  });

  test.each([
    ['purchaseOrderNumber', 7],
    ['purchaseOrderNumber', null],
    ['purchaseOrderNumber', ''],
    ['purchaseOrderNumber', undefined],
    ['purchaseOrderNumber', 'x'.repeat(257)],
    ['purchaseOrderNumber', 'a\u0000b'],
    ['orderState', 'new'],
    ['orderState', undefined],
    ['items', undefined],
    ['items', {}],
    ['items', []],
    ['items[0]', ['A-1']],
    ['items[0].articleCode', [{ ...item, articleCode: 7 }]],
    ['items[0].articleCode', [{ ...item, articleCode: '' }]],
    ['items[0].quantity', [{ ...item, quantity: '1' }]],
    ['items[0].quantity', [{ ...item, quantity: 0 }]],
    ['items[0].quantity', [{ ...item, quantity: -1 }]],
    ['items[1].quantity', [item, { articleCode: 'A-2' }]],
  ])('%s must have its type: %j is refused with 400 and named', async (name, value) => {
    const field = name.replace(/[[.].*/, '');
    const answer = await sandbox.create({ ...goodOrder('PO-typed'), [field]: value }, token);
    expect(answer).toMatchObject({
      status: 400,
      json: errorEnvelope(400, expect.stringContaining(`${name} `)),
    });
  });
});

describe('part 2, response envelope', () => {
  test('a success has status "success", the resource in data, and error null', async () => {
    const { json } = await sandbox.create(goodOrder('PO-envelope'), token);
    const data = { purchaseOrderNumber: 'PO-envelope', orderState: 'NEW' };
    expect(json).toEqual({ status: 'success', data, error: null });
  });

  test('a failure has status "error" and an error object, without data', async () => {
    expect((await sandbox.create('{}', token)).json).toEqual(errorEnvelope(400));
  });

  test.each([
    ['an unknown path', 'GET', '/nowhere', 404],
    ['a path with a slash too many', 'GET', '/purchase-orders/', 404],
    ['one single order', 'GET', '/purchase-orders/PO-1', 404],
    ['a method that the resource lacks', 'DELETE', '/purchase-orders', 405],
    ['a method nobody knows', 'PROPFIND', '/purchase-orders', 405],
  ])('%s gets an envelope', async (_, method, path, status) => {
    const headers = bearerHeaders(token);
    expect(await sandbox.call(method, path, { headers })).toMatchObject({
      status,
      json: errorEnvelope(status),
    });
  });

  test('a body that is too large gets an envelope', async () => {
    const body = JSON.stringify(goodOrder('x'.repeat(2 * 1024 * 1024)));
    expect(await sandbox.create(body, token)).toMatchObject({
      status: 413,
      json: errorEnvelope(413),
    });
  });

  test('addresses outside the API get an envelope', async () => {
    const { origin } = new URL(sandbox.baseUrl);
    for (const path of ['/', '/purchase-orders', '/api/v1', '/oauth/token', '/rehearsal']) {
      expect(await sandbox.call('GET', origin + path)).toMatchObject({
        status: 404,
        json: errorEnvelope(404),
      });
    }
  });
});

test('part 2: a crash of the service gets an envelope', async () => {
  const faults = faultFile.parse({ faults: [{ kind: 'crash', on: 'create', when: 'after' }] });
  await using crashing = await conformingSandbox({ faults });
  const answer = await crashing.create(goodOrder('PO-1'), await crashing.token());
  expect(answer).toMatchObject({ status: 500, json: errorEnvelope(500) });
});
