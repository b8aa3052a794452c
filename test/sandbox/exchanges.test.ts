import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createRedaction, type Exchange as Recorded } from '../../src/sandbox/exchanges.ts';
import { exchange } from '../support/exchange.ts';
import {
  bearerHeaders,
  CLIENT_SECRET,
  goodOrder,
  type OpenSandbox,
  openSandbox,
  rawCreate,
} from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

async function recorded({ authUrl }: OpenSandbox): Promise<Recorded[]> {
  const { json } = await exchange('GET', `${authUrl}/rehearsal`);
  return json.exchanges as Recorded[];
}

test('the record shows the last calls with headers, bodies and answers, the newest first', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  await sandbox.create(goodOrder('PO-1'), token);
  await sandbox.list(token);
  await sandbox.create('{"purchaseOrderNumber":', token);
  const [refused, listed, created, granted] = await recorded(sandbox);
  expect(created).toEqual({
    nr: 2,
    at: expect.any(Number),
    durationMs: expect.any(Number),
    from: expect.stringContaining('127.0.0.1'),
    request: {
      method: 'POST',
      target: '/api/v1/purchase-orders',
      headers: expect.objectContaining({
        authorization: '[redacted]',
        accept: 'application/json',
        'content-type': 'application/json',
      }),
      body: JSON.stringify(goodOrder('PO-1')),
    },
    response: {
      status: 201,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"status":"success","data":{"purchaseOrderNumber":"PO-1","orderState":"NEW"},"error":null}',
    },
  });
  expect(JSON.parse(listed?.response.body ?? '')).toMatchObject({
    data: { purchaseOrders: [goodOrder('PO-1')] },
  });
  expect(refused?.response).toMatchObject({
    status: 400,
    body: expect.stringContaining('not JSON'),
  });
  expect(granted?.request.body).toBe(
    'grant_type=client_credentials&client_id=client-of-tests&client_secret=[redacted]',
  );
  expect(granted?.response.body).toBe(
    '{"access_token":"[redacted]","expires_in":3600,"token_type":"Bearer"}',
  );
});

test('the record contains neither secret nor token, wherever a client put it', async () => {
  const reasons: string[] = [];
  await using sandbox = await openSandbox({
    record: true,
    onEvent: (event) =>
      void (event.type === 'answered' && reasons.push(`${event.path} ${event.reason}`)),
  });
  const token = await sandbox.token();
  const headers = {
    ...bearerHeaders(token),
    'x-api-key': 'from-production',
    'x-other': token,
    cookie: `session=${token}`,
    constructor: 'x',
  };
  const note = `${'x'.repeat(8100)}${CLIENT_SECRET}`;
  const body = JSON.stringify({ ...goodOrder(`PO-${token}`), note });
  await sandbox.call('POST', `/purchase-orders?access_token=${token}&y=${CLIENT_SECRET}`, {
    headers,
    body,
  });
  await sandbox.requestToken({ client_secret: 'from-production' });
  await sandbox.call('GET', `${sandbox.authUrl}/${CLIENT_SECRET}`);
  const exchanges = await recorded(sandbox);
  for (const secret of [token, CLIENT_SECRET, 'from-production', CLIENT_SECRET.slice(0, 12)])
    expect(JSON.stringify([exchanges, reasons])).not.toContain(secret);
  expect(exchanges.at(-2)?.request.headers).toMatchObject({ constructor: 'x' });
});

test.each(['s3cr et&"+=!', 's3cr+et%26%22%2B%3D%21', 's3cr%20et%26%22%2B%3D!'])(
  'a secret is redacted in the spelling %s',
  (spelling) => {
    expect(createRedaction('s3cr et&"+=!')(`x ${spelling} y`)).toBe('x [redacted] y');
  },
);

test('a character that arrives in two pieces stays one character', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  const { hostname, port } = new URL(sandbox.baseUrl);
  const bytes = Buffer.from(
    rawCreate({ ...goodOrder('PO-1'), note: 'ä' }, token).replace(
      /(content-length: )(\d+)/,
      (_, name, length) => `${name}${Number(length) + 1}`,
    ),
  );
  const socket = connect({ host: hostname, port: Number(port) });
  const middle = bytes.indexOf('ä') + 1;
  socket.write(bytes.subarray(0, middle));
  await until('the head', () => socket.bytesWritten === middle);
  // The server must read the first piece on its own.
  await exchange('GET', `${sandbox.authUrl}/healthz`);
  socket.end(bytes.subarray(middle));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 /);
  expect(JSON.stringify(await recorded(sandbox))).toContain('\\"note\\":\\"ä\\"');
});

test('long bodies are shortened, a dropped call has status 0, and the last 100 calls are kept', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  const items = [{ articleCode: 'REHEARSE-LOST-ANSWER', quantity: 1 }];
  await sandbox.create({ ...goodOrder('PO-lost'), items }, token).catch(() => undefined);
  await sandbox.create({ ...goodOrder('PO-long'), note: 'x'.repeat(20_000) }, token);
  const [long, lost] = await recorded(sandbox);
  expect(lost?.response).toEqual({ status: 0, headers: {}, body: '' });
  expect(long?.request.body).toMatch(/^.{8192}… \(2\d{4} characters\)$/);
  for (let nth = 0; nth < 101; nth += 1) await exchange('GET', `${sandbox.authUrl}/nowhere`);
  const kept = await recorded(sandbox);
  expect([kept.length, kept[0]?.nr]).toEqual([100, 104]);
});

test('an order is found by its number, with everything that was created', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  await sandbox.create(goodOrder('PO 1/ä', 3), token);
  await sandbox.create(goodOrder('PO 1/ä', 4), token);
  const url = `${sandbox.authUrl}/rehearsal/orders/`;
  expect((await exchange('GET', `${url}${encodeURIComponent('PO 1/ä')}`)).json).toEqual({
    purchaseOrderNumber: 'PO 1/ä',
    created: [3, 4].map((quantity) => ({
      at: expect.any(Number),
      orderState: 'NEW',
      items: [{ articleCode: 'A-1', quantity }],
    })),
  });
  expect((await exchange('GET', `${url}PO-2`)).status).toBe(404);
});
