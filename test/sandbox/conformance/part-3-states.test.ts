import { afterAll, beforeAll, expect, test } from 'vitest';
import { goodOrder, type OpenSandbox } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope } from './conform.ts';

let sandbox: OpenSandbox;
let token: string;

beforeAll(async () => {
  sandbox = await conformingSandbox();
  token = await sandbox.token();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test('part 3: creating an order with orderState NEW creates it in this state', async () => {
  expect((await sandbox.create(goodOrder('PO-1'), token)).status).toBe(201);
  expect(await sandbox.orders(token)).toEqual([goodOrder('PO-1')]);
});

test('part 3: the created order is returned in the response data', async () => {
  const { json } = await sandbox.create(goodOrder('PO-2'), token);
  expect(json.data).toEqual({ purchaseOrderNumber: 'PO-2', orderState: 'NEW' });
});

test.each(['OPEN', 'new', 'NEW ', '', 'CANCELLED', 1, null])(
  'part 3: orders cannot be created in orderState %j',
  async (orderState) => {
    const answer = await sandbox.create({ ...goodOrder('PO-3'), orderState }, token);
    expect(answer).toMatchObject({
      status: 400,
      json: errorEnvelope(400, expect.stringContaining('orderState must be "NEW"')),
    });
    expect(await sandbox.orders(token)).not.toContainEqual(
      expect.objectContaining({ purchaseOrderNumber: 'PO-3' }),
    );
  },
);
