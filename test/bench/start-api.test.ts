import { expect, test } from 'vitest';
import { type Api, startApi } from '../../bench/api/start-api.ts';

const FILE = { path: 'orders.csv', orders: 2 };

async function post({ origin }: Api, ...numbers: string[]): Promise<void> {
  const headers = { authorization: 'Bearer bench-token' };
  for (const purchaseOrderNumber of numbers) {
    const body = JSON.stringify({ purchaseOrderNumber, orderState: 'NEW', items: [] });
    const answer = await fetch(`${origin}/api/v1/purchase-orders`, {
      method: 'POST',
      headers,
      body,
    });
    const data = { purchaseOrderNumber, orderState: 'NEW' };
    expect(await answer.json()).toEqual({ status: 'success', data, error: null });
  }
}

test('a run in which an order arrives twice, or not at all, is reported', async () => {
  await using api = await startApi();
  await expect(api.judge(FILE, 0, () => post(api, 'PO-1', 'PO-2'))).resolves.toMatchObject({
    seen: { posts: 2 },
  });
  await expect(api.judge(FILE, 0, () => post(api, 'PO-1', 'PO-2', 'PO-2'))).rejects.toThrow(
    'the API received 2 in 3 posts',
  );
  await expect(api.judge(FILE, 0, () => post(api, 'PO-1'))).rejects.toThrow(
    'the API received 1 in 1 posts',
  );
});
