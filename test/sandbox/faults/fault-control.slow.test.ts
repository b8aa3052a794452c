import { afterEach, describe, expect, test } from 'vitest';
import { faultFile } from '../../../src/sandbox/faults/fault-file.ts';
import { goodOrder, type OpenSandbox, openSandbox } from '../../support/open-sandbox.ts';
import { until } from '../../support/until.ts';

let opened: OpenSandbox | undefined;
afterEach(() => opened?.[Symbol.asyncDispose]());

async function open(options: Parameters<typeof openSandbox>[0] = {}) {
  opened = await openSandbox(options);
  return { api: opened, token: await opened.token() };
}

describe('replaced faults', () => {
  test('count times, calls and attempts from the replacement on', async () => {
    const { api, token } = await open();
    await api.create(goodOrder('PO-1'), token);
    await api.setFaults([{ kind: 'answer', status: 500, attempts: 1, calls: 1, until: '1h' }]);
    expect((await api.create(goodOrder('PO-1'), token)).status).toBe(500);
    expect((await api.create(goodOrder('PO-1'), token)).status).toBe(201);
  });

  test('end an outage, also one that has begun', async () => {
    const { api, token } = await open({ authPort: 0 });
    await api.setFaults([{ kind: 'outage', address: 'api', from: '0ms', until: '1h' }]);
    const isAway = () =>
      api.list(token).then(
        () => false,
        () => true,
      );
    await until('the outage', isAway);
    await api.setFaults([]);
    expect(await isAway()).toBe(false);
  });
});

describe('free answers', () => {
  test('any status, body and headers', async () => {
    const headers = {
      'Content-Type': 'application/problem+json',
      'X-Gateway': 'edge-7',
      'Retry-After': 'soon',
    };
    const fault = {
      kind: 'answer',
      status: 599,
      text: '{"title":"no"}',
      headers,
      retryAfter: '1s',
    } as const;
    const { api, token } = await open({ faults: faultFile.parse({ faults: [fault] }) });
    expect(await api.create(goodOrder('PO-1'), token)).toMatchObject({
      status: 599,
      text: '{"title":"no"}',
      headers: {
        'content-type': 'application/problem+json',
        'x-gateway': 'edge-7',
        'retry-after': 'soon',
      },
    });
  });

  test('a header Transfer-Encoding replaces the length', async () => {
    const fault = {
      kind: 'answer',
      status: 500,
      headers: { 'Transfer-Encoding': 'chunked' },
    } as const;
    const { api, token } = await open({ faults: faultFile.parse({ faults: [fault] }) });
    const { headers, json } = await api.create(goodOrder('PO-1'), token);
    expect(headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(headers).not.toHaveProperty('content-length');
    expect(json).toMatchObject({ error: { code: 500 } });
  });

  test.each([204, 304])('a status without a body, %d, has no length', async (status) => {
    const { api, token } = await open({
      faults: faultFile.parse({ faults: [{ kind: 'answer', status }] }),
    });
    const answer = await api.create(goodOrder('PO-1'), token);
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([
      status,
      '',
      undefined,
    ]);
  });

  test.each([{ 'a b': 'x' }, { x: 'a\nb' }])(
    'a header that HTTP does not allow is refused: %j',
    (headers) => {
      const fault = { kind: 'answer', status: 500, headers } as const;
      expect(() => faultFile.parse({ faults: [fault] })).toThrow(/header/);
    },
  );
});

describe('the token endpoint', () => {
  test.each([
    [{ kind: 'answer', status: 503 }, 503, 'temporarily_unavailable'],
    [{ kind: 'answer', status: 500 }, 500, 'server_error'],
    [{ kind: 'answer', status: 401 }, 401, 'invalid_client'],
    [{ kind: 'answer', status: 400 }, 400, 'invalid_request'],
    [{ kind: 'answer', status: 400, error: 'unauthorized_client' }, 400, 'unauthorized_client'],
    [{ kind: 'crash' }, 500, 'server_error'],
    [{ kind: 'revoke' }, 401, 'invalid_client'],
  ] as const)('answers %j in its own format', async (fault, status, error) => {
    const { api } = await open();
    await api.setFaults([{ ...fault, on: 'token' }]);
    const json = { error, error_description: expect.any(String) };
    expect(await api.requestToken()).toMatchObject({ status, json });
  });

  test('a revoked secret leaves the tokens that were issued valid', async () => {
    const { api, token } = await open();
    await api.setFaults([{ kind: 'revoke', on: 'token' }]);
    expect((await api.requestToken()).json).toMatchObject({
      error_description: 'The client secret was revoked.',
    });
    expect((await api.list(token)).status).toBe(200);
  });

  test('a gateway can answer instead of it', async () => {
    const { api } = await open();
    await api.setFaults([{ kind: 'answer', on: 'token', status: 200, body: 'html' }]);
    expect((await api.requestToken()).headers['content-type']).toBe('text/html');
  });
});
