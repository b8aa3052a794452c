import { afterEach, describe, expect, test } from 'vitest';
import { type FaultFileInput, faultFile } from '../../../src/sandbox/faults/fault-file.ts';
import type { SandboxEvent, SandboxOptions } from '../../../src/sandbox/sandbox-options.ts';
import { goodOrder, type OpenSandbox, openSandbox } from '../../support/open-sandbox.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { until } from '../../support/until.ts';

let sandbox: OpenSandbox | undefined;

async function rehearse(
  faults: FaultFileInput['faults'],
  options: Partial<SandboxOptions> = {},
): Promise<OpenSandbox> {
  sandbox = await openSandbox({ ...options, faults: faultFile.parse({ faults }) });
  return sandbox;
}

afterEach(() => sandbox?.[Symbol.asyncDispose]());

/** What a create came to, and what is stored afterwards. */
async function createOnce(faults: FaultFileInput['faults']) {
  const api = await rehearse(faults);
  const token = await api.token();
  const answer = await api
    .create(goodOrder('PO-1'), token)
    .catch((error: NodeJS.ErrnoException) => error.code);
  return { answer, stored: (await api.orders(token)).length };
}

describe('create', () => {
  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('answered with 500 %s it was stored', async (when, stored) => {
    expect(await createOnce([{ kind: 'answer', status: 500, when }])).toMatchObject({
      answer: { status: 500, json: { status: 'error', error: { code: 500 } } },
      stored,
    });
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('its connection dropped %s it was stored', async (when, stored) => {
    for (const how of ['close', 'reset'] as const) {
      expect(await createOnce([{ kind: 'drop', when, how }])).toEqual({
        answer: 'ECONNRESET',
        stored,
      });
      await sandbox?.[Symbol.asyncDispose]();
    }
  });

  test('committed after the connection ended', async () => {
    const api = await rehearse([{ kind: 'late', by: '100ms' }]);
    const token = await api.token();
    await expect(api.create(goodOrder('PO-1'), token)).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
    await until('the late order', async () => (await api.orders(token)).length === 1);
  });

  test('slow calls do not delay shutdown and complete before it ends', async () => {
    await using folder = await makeTempFolder();
    const events: SandboxEvent[] = [];
    const api = await rehearse([{ kind: 'delay', by: '1h' }], {
      data: folder.path,
      onEvent: (event) => events.push(event),
    });
    const token = await api.token();
    const creating = api
      .create(goodOrder('PO-1'), token)
      .catch((error: NodeJS.ErrnoException) => error.code);
    await until('the call to arrive', () => events.some(({ type }) => type === 'received'));
    await api[Symbol.asyncDispose]();
    expect(await creating).toBe('ECONNRESET');
    await using again = await openSandbox({ data: folder.path });
    expect(await again.orders(token)).toHaveLength(1);
  });

  test('a late commit is not lost when the sandbox stops before it is due', async () => {
    await using folder = await makeTempFolder();
    const api = await rehearse([{ kind: 'late', by: '1h' }], { data: folder.path });
    const token = await api.token();
    await expect(api.create(goodOrder('PO-1'), token)).rejects.toThrow();
    await api[Symbol.asyncDispose]();
    await using again = await openSandbox({ data: folder.path });
    expect(await again.orders(token)).toHaveLength(1);
  });

  test.each([
    [{ status: 429 }, undefined],
    [{ status: 429, retryAfter: '2s' }, '2'],
    [{ status: 503, retryAfter: '1500ms' }, '2'],
    [
      { status: 503, retryAfter: '10s', retryAfterForm: 'date' as const },
      expect.stringMatching(/^\w{3}, .* GMT$/),
    ],
  ])('answered with a request to retry later: %j', async (fault, retryAfter) => {
    const { answer, stored } = await createOnce([{ kind: 'answer', ...fault }]);
    expect(answer).toMatchObject({ status: fault.status, json: { error: { code: fault.status } } });
    expect(typeof answer === 'object' && answer.headers['retry-after']).toEqual(retryAfter);
    expect(stored).toBe(0);
  });

  test('answered with HTML', async () => {
    expect(await createOnce([{ kind: 'answer', status: 502, body: 'html' }])).toMatchObject({
      answer: {
        status: 502,
        headers: { 'content-type': 'text/html' },
        text: expect.stringContaining('<h1>502</h1>'),
      },
    });
  });

  test('refused by an envelope with HTTP status 200', async () => {
    const fault = {
      kind: 'answer',
      status: 200,
      code: 400,
      message: 'articleCode X is unknown',
    } as const;
    expect(await createOnce([fault])).toMatchObject({
      answer: {
        status: 200,
        json: { status: 'error', error: { code: 400, message: 'articleCode X is unknown' } },
      },
      stored: 0,
    });
  });

  test('answer cut off in the middle', async () => {
    expect(await createOnce([{ kind: 'cut' }])).toEqual({ answer: 'ECONNRESET', stored: 1 });
  });
});

test('a revoked token is refused, and a new token works', async () => {
  const api = await rehearse([{ kind: 'revoke', calls: '2' }]);
  const [token, other] = [await api.token(), await api.token()];
  expect((await api.create(goodOrder('PO-1'), token)).status).toBe(201);
  const revoked = await api.create(goodOrder('PO-2'), token);
  expect(revoked).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': expect.stringContaining('invalid_token') },
  });
  expect((await api.list(token)).status).toBe(401);
  expect(await api.orders(other)).toHaveLength(1);
});

describe('token endpoint', () => {
  test('unavailable', async () => {
    const api = await rehearse([
      { kind: 'answer', on: 'token', status: 503, body: 'html', calls: '1' },
      { kind: 'drop', on: 'token', calls: '2' },
    ]);
    expect((await api.requestToken()).status).toBe(503);
    await expect(api.requestToken()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await api.requestToken()).status).toBe(200);
  });

  test('cannot have its own outage when it shares the API’s address', async () => {
    await expect(
      rehearse([{ kind: 'outage', address: 'auth', from: '1s', until: '2s' }]),
    ).rejects.toMatchObject({
      code: 'faults-need-auth-port',
    });
  });
});

test('an outage refuses connections, closes open ones, leaves the other address alone, and ends', async () => {
  const events: SandboxEvent[] = [];
  const api = await rehearse([{ kind: 'delay', by: '1h' }], {
    authPort: 0,
    record: true,
    onEvent: (event) => events.push(event),
  });
  const token = await api.token();
  const code = ({ code: found }: NodeJS.ErrnoException) => found;
  const slow = api.create(goodOrder('PO-1'), token).catch(code);
  await until('the call to arrive', () => events.some(({ type }) => type === 'received'));
  const outage = (end: string) =>
    api.setFaults([{ kind: 'outage', address: 'api', from: '0ms', until: end }]);
  await outage('1h');
  expect(await slow).toBe('ECONNRESET');
  expect(await api.list(token).catch(code)).toBe('ECONNREFUSED');
  expect((await api.requestToken()).status).toBe(200);
  await outage('100ms');
  await until('its end', () =>
    api.list(token).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
});
