import { afterEach, describe, expect, test } from 'vitest';
import type { Demand } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent, SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { bearerHeaders, goodOrder, type OpenSandbox } from '../support/open-sandbox.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { conformingSandbox } from './conformance/conform.ts';

let opened: OpenSandbox | undefined;
afterEach(() => opened?.[Symbol.asyncDispose]());

async function open(demand: Demand, options: Partial<SandboxOptions> = {}) {
  opened = await conformingSandbox({ ...options, demand });
  return opened;
}

describe('demanded headers', () => {
  test.each([
    [{}, 403],
    [{ 'x-company': '42', 'x-api-key': 'k' }, 403],
    [{ 'x-company': '0042' }, 403],
    [{ 'x-company': '0042', 'x-api-key': 'k' }, 200],
    [{ 'X-COMPANY': '0042', 'X-API-KEY': 'k', 'x-more': '' }, 200],
  ])('a call with %j gets %d', async (more, status) => {
    const api = await open({ headers: { 'X-Company': '0042', 'X-Api-Key': 'k' } });
    const headers = { ...bearerHeaders(await api.token()), ...more };
    expect((await api.call('GET', '/purchase-orders', { headers })).status).toBe(status);
    const body = JSON.stringify(goodOrder('PO-1'));
    const created = await api.call('POST', '/purchase-orders', { headers, body });
    expect(created.status).toBe(status === 200 ? 201 : 403);
  });
});

describe('a demanded target of the token', () => {
  test.each([
    [{ audience: 'https://api' }, {}, 400],
    [{ audience: 'https://api' }, { audience: 'https://other' }, 400],
    [{ audience: 'https://api' }, { audience: 'https://api' }, 200],
    [{ resource: 'urn:po' }, { audience: 'urn:po' }, 400],
    [{ resource: 'urn:po' }, { resource: 'urn:po' }, 200],
    [{ audience: 'a', resource: 'b' }, { audience: 'a' }, 400],
    [{ audience: 'a', resource: 'b' }, { audience: 'a', resource: 'b' }, 200],
  ])('with the demand %j a request with %j gets %d', async (demand, form, status) => {
    const api = await open(demand);
    const answer = await api.requestToken(form);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json).toMatchObject({ error: 'invalid_target' });
    expect((await api.requestToken({ ...form, client_secret: 'wrong' })).json).toMatchObject({
      error: 'invalid_client',
    });
  });
});

describe('a demanded idempotency key', () => {
  const HOUR = 3_600_000;

  /** Creates with a key; `stored` has the numbers that were stored. */
  async function openWithKeys(valid: number, options: Partial<SandboxOptions> = {}) {
    const stored: string[] = [];
    const onEvent = (event: SandboxEvent) =>
      void (event.type === 'stored' && stored.push(event.order));
    const api = await open(
      { idempotencyKey: { header: 'Idempotency-Key', valid } },
      {
        onEvent,
        ...options,
      },
    );
    const token = await api.token();
    const create = (order: object, key?: string) =>
      api.call('POST', '/purchase-orders', {
        headers: { ...bearerHeaders(token), ...(key !== undefined && { 'idempotency-key': key }) },
        body: JSON.stringify(order),
      });
    return { api, token, create, stored };
  }

  test.each([undefined, ''])('a creation with the key %j is refused', async (key) => {
    const { create, stored } = await openWithKeys(HOUR);
    expect(await create(goodOrder('PO-1'), key)).toMatchObject({ status: 400 });
    expect(stored).toEqual([]);
  });

  test('the same key and body get the first answer again, and nothing is stored', async () => {
    const { api, token, create, stored } = await openWithKeys(HOUR, { onDuplicate: 'refuse' });
    const first = await create(goodOrder('PO-1'), 'K-1');
    expect(first.status).toBe(201);
    const again = await create(goodOrder('PO-1'), 'K-1');
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect((await create(goodOrder('PO-1'), 'K-2')).status).toBe(409);
    expect(stored).toEqual(['PO-1']);
    expect(await api.orders(token)).toHaveLength(1);
  });

  test('a refusal is the answer to its key, too', async () => {
    const { create, stored } = await openWithKeys(HOUR);
    const wrong = { ...goodOrder('PO-1'), items: [] };
    const first = await create(wrong, 'K-1');
    expect(first.status).toBe(400);
    expect((await create(wrong, 'K-1')).text).toBe(first.text);
    expect((await create(goodOrder('PO-1'), 'K-1')).status).toBe(422);
    expect(stored).toEqual([]);
  });

  test('the same key with another body is refused with 422', async () => {
    const { create, stored } = await openWithKeys(HOUR);
    await create(goodOrder('PO-1', 1), 'K-1');
    expect((await create(goodOrder('PO-1', 2), 'K-1')).status).toBe(422);
    expect((await create(goodOrder('PO-2'), 'K-1')).status).toBe(422);
    expect(stored).toEqual(['PO-1']);
  });

  test('after its validity a key is a new call', async () => {
    const { create, stored } = await openWithKeys(300);
    await create(goodOrder('PO-1'), 'K-1');
    await until('the key to be forgotten', async () => {
      await create(goodOrder('PO-1'), 'K-1');
      return stored.length === 2;
    });
    expect((await create(goodOrder('PO-2'), 'K-2')).status).toBe(201);
  });

  test('simultaneous calls with one key store one order', async () => {
    const { create, stored } = await openWithKeys(HOUR);
    const calls = Array.from({ length: 20 }, () => create(goodOrder('PO-1'), 'K-1'));
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([201]));
    expect(stored).toEqual(['PO-1']);
  });

  test('an answer that was lost is given again, and a late order is stored once', async () => {
    const { api, create, stored } = await openWithKeys(HOUR, { record: true });
    await api.setFaults([
      { kind: 'drop', when: 'after', orders: ['PO-1'], attempts: 1 },
      { kind: 'late', by: '1h', orders: ['PO-2'], attempts: 1 },
    ]);
    for (const number of ['PO-1', 'PO-2']) {
      await expect(create(goodOrder(number), number)).rejects.toThrow();
      expect((await create(goodOrder(number), number)).status).toBe(201);
    }
    // Stopping stores what is late.
    await api[Symbol.asyncDispose]();
    expect(stored).toEqual(['PO-1', 'PO-2']);
  });

  test('keys survive a restart', async () => {
    await using folder = await makeTempFolder();
    const first = await openWithKeys(HOUR, { data: folder.path });
    await first.create(goodOrder('PO-1'), 'K-1');
    await first.api[Symbol.asyncDispose]();
    const second = await openWithKeys(HOUR, { data: folder.path });
    expect((await second.create(goodOrder('PO-1'), 'K-1')).status).toBe(201);
    expect(second.stored).toEqual([]);
  });
});
