import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createRedaction, type Exchange as Recorded } from '../../src/sandbox/exchanges.ts';
import { exchange } from '../support/exchange.ts';
import {
  bearerHeaders,
  CLIENT_ID,
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
        authorization: 'Bearer [redacted]',
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

test('neither record nor page contains a secret or a token, wherever a client put it', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  const body = JSON.stringify({
    ...goodOrder(`PO-${token}`),
    client_secret: 'some other',
    note: CLIENT_SECRET,
    token,
  });
  const headers = {
    ...bearerHeaders(token),
    'x-api-key': CLIENT_SECRET,
    'x-other': token,
    cookie: `session=${token}`,
  };
  const path = `/purchase-orders?access_token=${token}&x=${token}&y=${encodeURIComponent(CLIENT_SECRET)}`;
  await sandbox.call('POST', path, { headers, body });
  await sandbox.call('POST', path, { headers: { ...headers, authorization: token }, body });
  const basic = Buffer.from(`id:${CLIENT_SECRET}`).toString('base64');
  await sandbox.call('GET', '/purchase-orders', { headers: { authorization: `Basic ${basic}` } });
  const exchanges = JSON.stringify(await recorded(sandbox));
  const page = await exchange('GET', `${sandbox.authUrl}/rehearsal`, {
    headers: { accept: 'text/html' },
  });
  const shown = page.text.slice(page.text.indexOf('Last calls'));
  for (const text of [exchanges, shown]) {
    for (const secret of [token, CLIENT_SECRET, 'some other', basic]) {
      // The number of an order is not a secret, whatever a client writes into it.
      expect(text.replaceAll(`PO-${token}`, '')).not.toContain(secret);
    }
  }
});

describe('a secret is redacted', () => {
  /** What the record shows of a token request, and the line on standard error. */
  async function shown(
    body: string,
    type: string,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const reasons: string[] = [];
    await using sandbox = await openSandbox({
      record: true,
      onCall: ({ path, reason }) => void reasons.push(`${path} ${reason}`),
    });
    await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, {
      headers: { 'content-type': type, ...headers },
      body,
    });
    await sandbox.call('GET', `${sandbox.authUrl}/${CLIENT_SECRET}`);
    return JSON.stringify([await recorded(sandbox), reasons]);
  }
  const multipart =
    '--x\r\ncontent-disposition: form-data; name="client_secret"\r\n\r\nfrom-production\r\n--x--';
  const basic = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64');

  test.each([
    ['in a multipart form', multipart, 'multipart/form-data; boundary=x'],
    ['in JSON in camel case', '{"clientSecret": "from-production"}', 'application/json'],
    [
      'in JSON after an escaped name',
      '{"client\\u005Fsecret":"from-production"}',
      'application/json',
    ],
    [
      'in a form after an escaped name',
      'a=b&client%5fsecret=from-production',
      'application/x-www-form-urlencoded',
    ],
    ['in XML', '<client_secret>from-production</client_secret>', 'text/xml'],
    ['at the end of what is kept of a body', `${'x'.repeat(8180)}${CLIENT_SECRET}`, 'text/plain'],
    ['of a Basic header in a body', basic, 'text/plain'],
    [
      'of a Bearer header in JSON',
      '{"authorization":"Bearer from-production.x1"}',
      'application/json',
    ],
    [
      'in a header without a scheme',
      '',
      'text/plain',
      { authorization: `from-production ${CLIENT_SECRET}` },
    ],
    ['of a Basic header in another header', '', 'text/plain', { 'x-auth': `Basic ${basic}` }],
  ])('%s', async (_, body, type, headers: Record<string, string> = {}) => {
    const text = await shown(body, type, headers);
    for (const secret of [
      'from-production',
      CLIENT_SECRET,
      basic.slice(0, 20),
      CLIENT_SECRET.slice(0, 12),
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  const client = { id: 'odd one', secret: 's3cr et&"\\/+ü=!', scopes: [] };
  const form = 's3cr+et%26%22%5C%2F%2B%C3%BC%3D%21';
  test.each([
    ['of a form', form],
    ['of a strict query', form.replaceAll('+', '%20')],
    ['of ASCII JSON', JSON.stringify(client.secret).slice(1, -1).replace('ü', '\\u00fc')],
    [
      'of a Basic header with form-encoded credentials',
      Buffer.from(`odd+one:${form}`).toString('base64'),
    ],
  ])('in the spelling %s', (_, spelling) => {
    expect(createRedaction([client])(`x ${spelling} y`)).toMatch(/^x \[redacted\]=* y$/);
  });

  test('in a header whose name says so, and odd header names stay', async () => {
    await using sandbox = await openSandbox({ record: true });
    const headers = {
      'x-password': 'from-production',
      'x-amz-signature': 'from-production',
      constructor: 'x',
    };
    await sandbox.call('GET', '/purchase-orders', { headers });
    const [call] = await recorded(sandbox);
    expect(JSON.stringify(call)).not.toContain('from-production');
    expect(call?.request.headers).toMatchObject({ constructor: 'x' });
  });

  test('also when the token was revoked by the call itself', async () => {
    await using sandbox = await openSandbox({ record: true });
    const token = await sandbox.token();
    const items = [{ articleCode: 'REHEARSE-401', quantity: 1 }];
    await sandbox.create({ ...goodOrder('PO-1'), items, note: token }, token);
    const text = JSON.stringify(await recorded(sandbox));
    expect(text).toContain('The access token was revoked.');
    expect(text).not.toContain(token);
  });
});

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

test('a browser gets a page that refreshes itself, with everything that a client sent escaped', async () => {
  await using sandbox = await openSandbox({ record: true });
  const token = await sandbox.token();
  const hostile = '<script>alert(1)</script>"\'&';
  await sandbox.create(goodOrder(hostile), token);
  await exchange('GET', `${sandbox.authUrl}/<b>`, { headers: { 'x-h': hostile } });
  const page = await exchange('GET', `${sandbox.authUrl}/rehearsal`, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  });
  expect(page).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
  expect(page.text).toContain('setInterval(');
  expect(page.text).toContain('color-scheme:light dark');
  expect(page.text).toContain('&#60;script&#62;alert(1)');
  expect(page.text).not.toContain('<script>alert');
});
