import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { exchange } from '../support/exchange.ts';
import { bearerHeaders, CLIENT_ID, CLIENT_SECRET, formOf, goodOrder } from '../support/open-sandbox.ts';
import { conformingSandbox, headersWith } from './conformance/conform.ts';

const ITEM = { articleCode: 'A-1', quantity: 1 };
const orderOf = (more: Record<string, unknown>) => ({ ...goodOrder('PO-1'), ...more });

describe('each switch changes one decision, and the OpenAPI document with it', () => {
  test.each([
    ['createdStatus', { createdStatus: 200 }, goodOrder('PO-1'), 201, 200],
    ['blankText of a number', { blankText: 'refuse' }, orderOf({ purchaseOrderNumber: '  ' }), 201, 400],
    ['blankText of an article', { blankText: 'refuse' }, orderOf({ items: [{ ...ITEM, articleCode: ' ' }] }), 201, 400],
    ['blankText of any order', { blankText: 'refuse' }, orderOf({ purchaseOrderNumber: ' PO 1 ' }), 201, 201],
    ['unknownFields of an order', { unknownFields: 'refuse' }, orderOf({ note: 1 }), 201, 400],
    ['unknownFields of an item', { unknownFields: 'refuse' }, orderOf({ items: [{ ...ITEM, note: 1 }] }), 201, 400],
    ['quantity', { quantity: 'integer' }, orderOf({ items: [{ ...ITEM, quantity: 1.5 }] }), 201, 400],
    ['bodyLimit', { bodyLimit: 50 }, goodOrder('PO-1'), 201, 413],
  ] as const)('%s', async (_, options: Partial<SandboxOptions>, order, byDefault, switched) => {
    for (const [chosen, status] of [
      [{}, byDefault],
      [options, switched],
    ] as const) {
      await using sandbox = await conformingSandbox(chosen);
      expect((await sandbox.create(order, await sandbox.token())).status).toBe(status);
    }
  });

  test('an unknown field is named', async () => {
    await using sandbox = await conformingSandbox({ unknownFields: 'refuse' });
    const { json } = await sandbox.create(orderOf({ note: 1 }), await sandbox.token());
    const message = 'The request parameters are invalid: the body must not contain the unknown field "note".';
    expect(json).toEqual({ status: 'error', error: { code: 400, message } });
  });

  test('duplicateStatus', async () => {
    await using sandbox = await conformingSandbox({ onDuplicate: 'refuse', duplicateStatus: 400 });
    const token = await sandbox.token();
    await sandbox.create(goodOrder('PO-1'), token);
    expect(await sandbox.create(goodOrder('PO-1'), token)).toMatchObject({
      status: 400,
      json: { error: { code: 400 } },
    });
  });

  test('listKey and listedState', async () => {
    await using sandbox = await conformingSandbox({ listKey: 'records', listedState: 'CONFIRMED' });
    const token = await sandbox.token();
    await sandbox.create(goodOrder('PO-1'), token);
    const data = { records: [{ ...goodOrder('PO-1'), orderState: 'CONFIRMED' }] };
    expect((await sandbox.list(token)).json.data).toEqual(data);
  });
});

describe('headers lenient', () => {
  const post = { body: JSON.stringify(goodOrder('PO-1')) };

  test.each([
    [{ accept: undefined }, 200],
    [{ accept: '*/*' }, 200],
    [{ accept: 'text/html, application/*;q=0.5' }, 200],
    [{ 'content-type': undefined }, 200],
    [{ accept: 'text/html' }, 406],
    [{ accept: '*/*;q=0' }, 406],
    [{ 'content-type': 'text/plain' }, 415],
  ])('%j gives %d', async (changed: Record<string, string | undefined>, status) => {
    await using sandbox = await conformingSandbox({ headers: 'lenient' });
    const headers = headersWith(await sandbox.token(), changed);
    expect((await sandbox.call('GET', '/purchase-orders', { headers })).status).toBe(status);
    const created = await sandbox.call('POST', '/purchase-orders', { headers, ...post });
    expect(created.status).toBe(status === 200 ? 201 : status);
  });

  test('a refusal shows the header to send', async () => {
    await using sandbox = await conformingSandbox();
    const headers = headersWith(await sandbox.token(), { 'content-type': undefined });
    const refused = await sandbox.call('POST', '/purchase-orders', { headers, ...post });
    expect(refused.json).toMatchObject({
      error: { message: 'Send the header Content-Type: application/json (received: none).' },
    });
    expect(refused.headers.accept).toBe('application/json');
  });
});

describe('clientAuth', () => {
  const basicOf = (id: string, secret: string) =>
    `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
  const right = basicOf(CLIENT_ID, CLIENT_SECRET);
  const form = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET };

  test.each([
    ['form', undefined, form, 200],
    ['form', right, {}, 401],
    ['basic', right, {}, 200],
    ['basic', undefined, form, 401],
    ['basic', basicOf(CLIENT_ID, 'wrong'), {}, 401],
    ['basic', 'Basic %', {}, 401],
    ['both', right, {}, 200],
    ['both', right, { client_id: CLIENT_ID }, 200],
    ['both', undefined, form, 200],
    ['both', 'Bearer of-a-gateway', form, 200],
    ['both', undefined, {}, 401],
  ] as const)('%s with the header %s and the form %j gives %d', async (clientAuth, authorization, fields, status) => {
    await using sandbox = await conformingSandbox({ clientAuth });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(authorization !== undefined && { authorization }),
    };
    const body = formOf({ grant_type: 'client_credentials', ...fields });
    const answer = await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, { headers, body });
    expect(answer.status).toBe(status);
    // A challenge is for clients that used the header, or have to (RFC 6749 section 5.2).
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Basic realm="staging"');
  });

  test('form-encoded credentials in the header are decoded (RFC 6749 section 2.3.1)', async () => {
    await using sandbox = await conformingSandbox({ clientAuth: 'basic', clientId: 'a b:c', clientSecret: 'ä+%:&' });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basicOf('a b:c', 'ä+%:&'),
    };
    const body = 'grant_type=client_credentials';
    expect((await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, { headers, body })).status).toBe(200);
  });
});

describe('cors', () => {
  test('a browser may call from the given origin, after a preflight without a token', async () => {
    await using sandbox = await conformingSandbox({ cors: 'https://swagger.example.com' });
    const url = `${sandbox.baseUrl}/purchase-orders`;
    const preflight = await exchange('OPTIONS', url, {
      headers: { origin: 'https://swagger.example.com', 'access-control-request-headers': 'authorization' },
    });
    expect(preflight).toMatchObject({
      status: 204,
      text: '',
      headers: {
        'access-control-allow-origin': 'https://swagger.example.com',
        'access-control-allow-headers': expect.stringContaining('authorization'),
        'access-control-allow-methods': expect.stringContaining('POST'),
      },
    });
    const answers = [
      await sandbox.list(await sandbox.token()),
      await sandbox.list('unknown'),
      await exchange('GET', `${sandbox.authUrl}/openapi.json`),
    ];
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe('https://swagger.example.com');
      expect(headers['access-control-expose-headers']).toContain('www-authenticate');
    }
  });

  test('without the switch no answer has CORS headers, and OPTIONS is refused', async () => {
    await using sandbox = await conformingSandbox();
    const token = await sandbox.token();
    const answer = await sandbox.call('OPTIONS', '/purchase-orders', { headers: bearerHeaders(token) });
    expect(answer.status).toBe(405);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test.each(['/healthz', '/openapi.json', '/rehearsal', '/rehearsal/faults'])(
  'HEAD %s answers like GET',
  async (path) => {
    await using sandbox = await conformingSandbox({ record: true });
    const [head, get] = [
      await exchange('HEAD', `${sandbox.authUrl}${path}`),
      await exchange('GET', `${sandbox.authUrl}${path}`),
    ];
    expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', get.headers['content-type']]);
  },
);
