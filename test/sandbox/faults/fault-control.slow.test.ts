import { afterEach, describe, expect, test } from 'vitest';
import { NO_FAULTS, openFaultControl } from '../../../src/sandbox/faults/fault-control.ts';
import { faultFile } from '../../../src/sandbox/faults/fault-file.ts';
import { exchange } from '../../support/exchange.ts';
import { goodOrder, type OpenSandbox, openSandbox } from '../../support/open-sandbox.ts';
import { until } from '../../support/until.ts';

let opened: OpenSandbox | undefined;
afterEach(() => opened?.[Symbol.asyncDispose]());

async function open(options: Parameters<typeof openSandbox>[0] = {}) {
  opened = await openSandbox({ record: true, ...options });
  const api = opened;
  const faults = (method: string, body?: string) =>
    exchange(method, `${api.authUrl}/rehearsal/faults`, body === undefined ? {} : { body });
  return { api, faults, token: await api.token() };
}

async function done(): Promise<void> {}

describe('PUT /rehearsal/faults', () => {
  test('replaces the faults of the file while the sandbox runs, as YAML or JSON', async () => {
    const { api, faults, token } = await open({
      faults: faultFile.parse({ faults: [{ kind: 'answer', status: 500 }] }),
    });
    const status = async () => (await api.create(goodOrder('PO-1'), token)).status;
    expect(await status()).toBe(500);
    expect(
      (await faults('PUT', 'faults:\n  - { kind: answer, status: 503, retryAfter: 1s }\n')).status,
    ).toBe(200);
    expect(await status()).toBe(503);
    expect((await faults('PUT', '{"faults":[{"kind":"answer","status":418}]}')).status).toBe(200);
    expect(await status()).toBe(418);
    expect((await faults('DELETE')).json).toEqual({ faults: 0 });
    expect(await status()).toBe(201);
  });

  test('counts times, calls and attempts from the replacement on', async () => {
    const { api, faults, token } = await open();
    await api.create(goodOrder('PO-1'), token);
    await faults(
      'PUT',
      '{ faults: [{ kind: answer, status: 500, attempts: 1, calls: 1, until: 1h }] }',
    );
    expect((await api.create(goodOrder('PO-1'), token)).status).toBe(500);
    expect((await api.create(goodOrder('PO-1'), token)).status).toBe(201);
  });

  test.each([
    ['faults: [{ kind: dely }]', /kind/],
    ['faults: [', /line 1/],
    ['faults: *x', /[Uu]nresolved alias/],
    ['listShape: array', /listShape can only be set when the sandbox starts/],
    ['demand: {}', /demand can only be set when the sandbox starts/],
    [
      'faults: [{ kind: outage, address: api, from: 1s, until: 2s }]',
      /requires separate addresses/,
    ],
  ])('%j is refused, and the faults stay', async (text, message) => {
    const { api, faults, token } = await open();
    await faults('PUT', 'faults: [{ kind: answer, status: 500 }]');
    const refused = await faults('PUT', text);
    expect(refused.json).toMatchObject({
      error: { code: 400, message: expect.stringMatching(message) },
    });
    expect((await api.create(goodOrder('PO-1'), token)).status).toBe(500);
  });

  test('ends an outage, also one that has begun', async () => {
    const { api, faults, token } = await open({ authPort: 0 });
    await faults('PUT', 'faults: [{ kind: outage, address: api, from: 0ms, until: 1h }]');
    const isAway = () =>
      api.list(token).then(
        () => false,
        () => true,
      );
    await until('the outage', isAway);
    await faults('DELETE');
    expect(await isAway()).toBe(false);
  });

  test('of simultaneous replacements only the last one has an effect', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const address = { url: '', vanish: done, comeBack: done, [Symbol.asyncDispose]: done };
    await using control = openFaultControl(undefined);
    control.attach({ api: address, auth: address });
    const before = timers();
    const outage = faultFile.parse({ faults: [{ kind: 'outage', from: '1h', until: '2h' }] });
    await Promise.all([control.replace(outage), control.replace(NO_FAULTS)]);
    // A timer of the replaced outage would still close the address.
    expect(timers()).toBe(before);
  });

  test('needs --record', async () => {
    const { faults } = await open({ record: false });
    expect((await faults('DELETE')).status).toBe(404);
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
    const { api, faults } = await open();
    await faults('PUT', JSON.stringify({ faults: [{ ...fault, on: 'token' }] }));
    const json = { error, error_description: expect.any(String) };
    expect(await api.requestToken()).toMatchObject({ status, json });
  });

  test('a revoked secret leaves the tokens that were issued valid', async () => {
    const { api, faults, token } = await open();
    await faults('PUT', 'faults: [{ kind: revoke, on: token }]');
    expect((await api.requestToken()).json).toMatchObject({
      error_description: 'The client secret was revoked.',
    });
    expect((await api.list(token)).status).toBe(200);
  });

  test('a gateway can answer instead of it', async () => {
    const { api, faults } = await open();
    await faults('PUT', 'faults: [{ kind: answer, on: token, status: 200, body: html }]');
    expect((await api.requestToken()).headers['content-type']).toBe('text/html');
  });
});
