import { describe, expect, test } from 'vitest';
import { exchange } from '../support/exchange.ts';
import { CLIENT_ID, CLIENT_SECRET, formOf, goodOrder } from '../support/open-sandbox.ts';
import { conformingSandbox, headersWith } from './conformance/conform.ts';

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
    [undefined, right, {}, 200],
    [undefined, right, { client_id: CLIENT_ID }, 200],
    [undefined, undefined, form, 200],
    [undefined, 'Bearer of-a-gateway', form, 200],
    [undefined, basicOf(CLIENT_ID, 'wrong'), {}, 401],
    [undefined, 'Basic %', {}, 401],
    [undefined, 'Bearer of-a-gateway', {}, 401],
    [undefined, undefined, {}, 400],
    [undefined, undefined, { client_id: CLIENT_ID }, 400],
  ] as const)(
    '%s with the header %s and the form %j gives %d',
    async (clientAuth, authorization, fields, status) => {
      await using sandbox = await conformingSandbox(clientAuth && { demand: { clientAuth } });
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization !== undefined && { authorization }),
      };
      const body = formOf({ grant_type: 'client_credentials', ...fields });
      const answer = await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, {
        headers,
        body,
      });
      expect(answer.status).toBe(status);
      // A challenge is for clients that used the header, or have to (RFC 6749 section 5.2).
      if (status === 401) expect(answer.headers['www-authenticate']).toBe('Basic realm="staging"');
    },
  );

  test('form-encoded credentials in the header are decoded (RFC 6749 section 2.3.1)', async () => {
    await using sandbox = await conformingSandbox({
      demand: { clientAuth: 'basic' },
      clientId: 'a b:c',
      clientSecret: 'ä+%:&',
    });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basicOf('a b:c', 'ä+%:&'),
    };
    const body = 'grant_type=client_credentials';
    expect(
      (await sandbox.call('POST', `${sandbox.authUrl}/oauth2/token`, { headers, body })).status,
    ).toBe(200);
  });
});

describe('HTTP', () => {
  test.each([
    ['POST', '/healthz', 405],
    ['POST', '/openapi.json', 405],
    ['DELETE', '/healthz', 405],
  ])('%s %s gives %d with the methods to use', async (method, path, status) => {
    await using sandbox = await conformingSandbox();
    const answer = await sandbox.call(method, `${sandbox.authUrl}${path}`);
    expect(answer).toMatchObject({
      status,
      headers: { allow: 'GET, HEAD' },
      json: { error: { code: status } },
    });
  });

  test.each([
    ['application/json; charset="UTF-8"; x=y', 'application/json', 201],
    ['application/json; x="y"; charset=latin1', 'application/json', 415],
    ['application/json', 'text/html, application/json;q=0.5', 201],
    ['application/json', 'text/html', 406],
  ])('Content-Type %s and Accept %s give %d', async (type, accept, status) => {
    await using sandbox = await conformingSandbox();
    const headers = headersWith(await sandbox.token(), { 'content-type': type, accept });
    const body = JSON.stringify(goodOrder('PO-1'));
    expect((await sandbox.call('POST', '/purchase-orders', { headers, body })).status).toBe(status);
  });
});

test.each(['/healthz', '/openapi.json', '/rehearsal'])('HEAD %s answers like GET', async (path) => {
  await using sandbox = await conformingSandbox({ record: true });
  const [head, get] = [
    await exchange('HEAD', `${sandbox.authUrl}${path}`),
    await exchange('GET', `${sandbox.authUrl}${path}`),
  ];
  expect([head.status, head.text, head.headers['content-type']]).toEqual([
    200,
    '',
    get.headers['content-type'],
  ]);
});
