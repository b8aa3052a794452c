import { expect, test } from 'vitest';
import { createOrders, goodOrder } from '../../support/open-sandbox.ts';
import { conformingSandbox, errorEnvelope } from './conform.ts';

test('part 8: an access token is valid for 3600 seconds', async () => {
  await using sandbox = await conformingSandbox();
  expect((await sandbox.requestToken()).json.expires_in).toBe(3600);
});

test('part 8: there is no pagination and no default page size: the list is complete', async () => {
  await using sandbox = await conformingSandbox();
  const token = await sandbox.token();
  const numbers = Array.from({ length: 600 }, (_, nth) => `PO-${nth}`);
  await createOrders(sandbox, numbers, token);
  expect(await sandbox.orders(token)).toHaveLength(600);
});

test('part 8: there is no rate limit', async () => {
  await using sandbox = await conformingSandbox();
  const token = await sandbox.token();
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, nth) => sandbox.create(goodOrder(`PO-${nth}`), token)),
  );
  expect(answers.every(({ status }) => status === 201)).toBe(true);
});

test('part 8: a body can have up to exactly 1 MiB', async () => {
  await using sandbox = await conformingSandbox();
  const token = await sandbox.token();
  const body = JSON.stringify(goodOrder('PO-1'));
  const full = body + ' '.repeat(1024 * 1024 - body.length);
  expect((await sandbox.create(full, token)).status).toBe(201);
  expect(await sandbox.create(`${full} `, token)).toMatchObject({
    status: 413,
    json: errorEnvelope(413),
  });
});
