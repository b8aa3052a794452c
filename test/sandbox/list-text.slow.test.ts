import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bearerHeaders, goodOrder, openSandbox } from '../support/open-sandbox.ts';
import { storeOrders } from '../support/order-file.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const ORDERS = 100_000;

test('a list of 100,000 orders is streamed with little memory, without delaying other calls, also to a slow or lost reader', async () => {
  await using folder = await makeTempFolder();
  const items = JSON.stringify([{ articleCode: 'A-1', quantity: 1 }]);
  storeOrders(
    folder.path,
    Array.from({ length: ORDERS }, (_, n) => ({ number: `PO-${n}`, items })),
  );
  await using sandbox = await openSandbox({ data: folder.path });
  const token = await sandbox.token();

  const url = `${sandbox.baseUrl}/purchase-orders`;
  // Two readers that stop reading: one waits, one goes away in the middle.
  const waiting = get(url, { headers: bearerHeaders(token), agent: false });
  const leaving = get(url, { headers: bearerHeaders(token), agent: false }, (answer) =>
    answer.once('data', () => answer.destroy()),
  );
  leaving.on('error', () => undefined);
  waiting.on('error', () => undefined);
  await delay(200);
  const before = process.memoryUsage().rss;
  let isListed = false;
  const listing = sandbox.orders(token).finally(() => {
    isListed = true;
  });
  expect((await sandbox.create(goodOrder('PO-meanwhile'), token)).status).toBe(201);
  expect(isListed).toBe(false);
  const listed = await listing;
  expect(listed.length).toBeGreaterThanOrEqual(ORDERS);
  expect(listed[0]).toEqual(goodOrder('PO-0'));
  expect(listed[ORDERS - 1]).toEqual(goodOrder(`PO-${ORDERS - 1}`));
  // Reading it here costs memory as well; the answers that wait must not be among it.
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  waiting.destroy();
});
