import { afterEach, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { goodOrder, type OpenSandbox, openSandbox } from '../support/open-sandbox.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const opened: OpenSandbox[] = [];

async function open(options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
  const sandbox = await openSandbox(options);
  opened.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox[Symbol.asyncDispose]();
});

test('a token is issued, an order is created, and the list shows it', async () => {
  const sandbox = await open();
  const token = await sandbox.token();
  const created = await sandbox.create(goodOrder('PO-1', 3), token);
  expect(created.status).toBe(201);
  expect(created.json).toEqual({
    status: 'success',
    data: { purchaseOrderNumber: 'PO-1', orderState: 'NEW' },
    error: null,
  });
  expect(await sandbox.orders(token)).toEqual([goodOrder('PO-1', 3)]);
});

test('three environments run side by side, each with its own orders and tokens', async () => {
  const staging = await open({ environment: 'staging' });
  const uat = await open({ environment: 'uat', authPort: 0 });
  const production = await open({ environment: 'production', tokenPath: '/oauth/token' });
  expect(new URL(uat.authUrl).port).not.toBe(new URL(uat.baseUrl).port);
  const all = [staging, uat, production];
  const tokens = await Promise.all(all.map((sandbox) => sandbox.token()));
  for (const [nth, sandbox] of all.entries()) {
    const answers = await Promise.all(tokens.map((token) => sandbox.list(token)));
    expect(answers.map(({ status }) => status)).toEqual(
      [0, 1, 2].map((other) => (other === nth ? 200 : 401)),
    );
  }
  await uat.create(goodOrder('PO-1'), await uat.token());
  expect(await staging.orders(await staging.token())).toEqual([]);
});

test('orders and tokens survive a restart', async () => {
  await using folder = await makeTempFolder();
  const first = await open({ data: folder.path });
  const token = await first.token();
  await first.create(goodOrder('PO-1'), token);
  await first[Symbol.asyncDispose]();
  const second = await open({ data: folder.path });
  expect(await second.orders(token)).toEqual([goodOrder('PO-1')]);
  await second[Symbol.asyncDispose]();
});

test('a port in use gives one clear error', async () => {
  const sandbox = await open();
  const port = Number(new URL(sandbox.baseUrl).port);
  await expect(open({ port, environment: 'uat' })).rejects.toMatchObject({
    code: 'sandbox-port-in-use',
  });
});

test('two sandboxes cannot share a data file', async () => {
  const sandbox = await open();
  await expect(open({ data: sandbox.data })).rejects.toMatchObject({ code: 'sandbox-data-in-use' });
});
