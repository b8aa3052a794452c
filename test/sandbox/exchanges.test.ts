import { expect, test } from 'vitest';
import { createRedaction, type Exchange as Recorded } from '../../src/sandbox/exchanges.ts';
import { exchange } from '../support/exchange.ts';
import {
  bearerHeaders,
  CLIENT_SECRET,
  goodOrder,
  type OpenSandbox,
  openSandbox,
} from '../support/open-sandbox.ts';

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
