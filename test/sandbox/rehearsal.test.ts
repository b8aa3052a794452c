import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { faultFile } from '../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent } from '../../src/sandbox/sandbox-options.ts';
import { exchange } from '../support/exchange.ts';
import { goodOrder, openSandbox, rawCreate } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

test('without --record there is no record', async () => {
  await using sandbox = await openSandbox();
  expect((await exchange('GET', `${sandbox.authUrl}/rehearsal`)).status).toBe(404);
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
