import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createExchanges } from '../../src/sandbox/exchanges.ts';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import { createRehearsal } from '../../src/sandbox/rehearsal.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { exchange } from '../support/exchange.ts';
import { goodOrder, openSandbox, rawCreate } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

test('the record shows what happened to each order', async () => {
  const faults = faultFile.parse({
    faults: [
      { kind: 'drop', when: 'after', orders: ['PO-2'], attempts: 1 },
      { kind: 'answer', on: 'list', status: 403, calls: 2 },
    ],
  });
  await using sandbox = await openSandbox({ record: true, faults, authPort: 0 });
  const begun = Date.now();
  await sandbox.requestToken({ client_secret: 'wrong' });
  const token = await sandbox.token();
  await sandbox.create(goodOrder('PO-1'), token);
  await sandbox.create(goodOrder('PO-2'), token).catch(() => undefined);
  await sandbox.create(goodOrder('PO-2'), token);
  await sandbox.create('{}', token);
  await sandbox.list(token);
  await sandbox.list(token);
  await sandbox.list('unknown');

  const { status, json } = await exchange('GET', `${sandbox.authUrl}/rehearsal`);
  expect(status).toBe(200);
  const at = expect.any(Number);
  expect(json).toEqual({
    environment: 'staging',
    startedAt: at,
    counters: { calls: 9, received: 4, stored: 3, dropped: 1, crashed: 0, faults: 2 },
    statuses: {
      'token 401': 1,
      'token 200': 1,
      'create 201': 2,
      'create dropped': 1,
      'create 400': 1,
      'list 200': 1,
      'list 403': 1,
      'list 401': 1,
    },
    faults: { 'create drop': 1, 'list answer': 1 },
    tokens: [
      { at, outcome: 'invalid_client' },
      { at, outcome: 'issued' },
    ],
    exchanges: expect.any(Array),
    lists: [200, 403, 401].map((answered) => ({ at, status: answered, durationMs: at })),
    orders: {
      'PO-1': { received: [at], stored: [at], faults: [] },
      'PO-2': { received: [at, at], stored: [at, at], faults: ['drop'] },
      '': { received: [at], stored: [], faults: [] },
    },
  });
  expect(Number(json.startedAt)).toBeLessThanOrEqual(begun);
});

test('without --record there is no record', async () => {
  await using sandbox = await openSandbox();
  expect((await exchange('GET', `${sandbox.authUrl}/rehearsal`)).status).toBe(404);
});

test('a record of 2,000 orders is served quickly', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  for (let nth = 0; nth < 2_000; nth += 200) {
    await Promise.all(
      Array.from({ length: 200 }, (_, more) =>
        sandbox.create(goodOrder(`PO-${nth + more}`), token),
      ),
    );
  }
  const begun = performance.now();
  const { json } = await exchange('GET', `${sandbox.authUrl}/rehearsal`);
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(Object.keys(Object(json.orders))).toHaveLength(2_000);
});

test('every call emits events, also one without an answer', async () => {
  const events: SandboxEvent[] = [];
  await using sandbox = await openSandbox({ onEvent: (event) => events.push(event) });
  const token = await sandbox.token();
  await sandbox.create(goodOrder('PO-1'), token);
  await exchange('GET', `${sandbox.baseUrl}/nowhere?secret=1`);
  expect(events.map((event) => event.type)).toEqual([
    'token',
    'answered',
    'received',
    'stored',
    'answered',
    'answered',
  ]);
  expect(events.at(-1)).toMatchObject({
    on: 'other',
    method: 'GET',
    path: '/api/v1/nowhere',
    status: 401,
  });
  expect(JSON.stringify(events)).not.toContain(token);
});

test('the record can only be read', async () => {
  await using sandbox = await openSandbox({ record: true });
  const { status, headers, json } = await exchange('DELETE', `${sandbox.authUrl}/rehearsal`);
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  expect(json).toMatchObject({ status: 'error', error: { code: 405 } });
});

test('a dropped call ends its connection even if an earlier call on it is still waiting', async () => {
  const faults = faultFile.parse({
    faults: [
      { kind: 'delay', orders: ['PO-1'], by: '200ms' },
      { kind: 'drop', when: 'after', orders: ['PO-2'] },
    ],
  });
  await using sandbox = await openSandbox({ faults });
  const token = await sandbox.token();
  const { hostname, port } = new URL(sandbox.baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined).resume();
  socket.write(rawCreate(goodOrder('PO-1'), token) + rawCreate(goodOrder('PO-2'), token));
  await once(socket, 'close');
  await until('both', async () => (await sandbox.orders(token)).length === 2);
});

test('the record stays small: the newest calls, entries and orders', () => {
  const rehearsal = createRehearsal(
    'staging',
    createExchanges((text) => text),
  );
  for (let n = 0; n < 200_010; n += 1)
    rehearsal.take({ type: 'received', at: n, order: `PO-${n}` });
  for (let n = 0; n < 1_010; n += 1) {
    rehearsal.take({ type: 'received', at: n, order: 'PO-200009' });
    rehearsal.take({ type: 'token', at: n, outcome: 'issued' });
  }
  const record = JSON.parse([...rehearsal.text()].join(''));
  expect(Object.keys(record.orders)).toHaveLength(200_000);
  expect(record.orders['PO-9']).toBeUndefined();
  expect(record.orders['PO-200009'].received).toHaveLength(1_000);
  expect(record.tokens.map(({ at }: { at: number }) => at)).toEqual(
    Array.from({ length: 1_000 }, (_, n) => n + 10),
  );
  expect(record.counters.received).toBe(201_020);
});
