import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openHttp } from '../../src/core/http.ts';
import { fileUnreadable } from '../../src/notify/notice.ts';
import { callWebhook } from '../../src/notify/webhook.ts';

const NOTICE = fileUnreadable({ environment: 'staging', at: 0, batch: 'b', source: 'inbox', report: '/reports/b' });

async function openHook(status: number | 'never') {
  const stack = new AsyncDisposableStack();
  const received: { request: IncomingMessage; body: unknown }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ request, body: await json(request) });
    if (status !== 'never') response.writeHead(status).end('ok');
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const http = stack.use(openHttp({ connections: 1 }));
  const { port } = server.address() as AddressInfo;
  const post = (signal: AbortSignal, timeout = 5000) =>
    callWebhook(`http://127.0.0.1:${port}/hook?key=s3cret`, NOTICE, { http, timeout, signal });
  return { received, post, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const { signal } = new AbortController();

describe('a webhook', () => {
  it('gets the notice as JSON and accepts it with any 2xx', async () => {
    await using hook = await openHook(204);
    await hook.post(signal);
    expect(hook.received).toHaveLength(1);
    expect(hook.received[0]?.body).toEqual(NOTICE);
    expect(hook.received[0]?.request).toMatchObject({ method: 'POST', url: '/hook?key=s3cret' });
    expect(hook.received[0]?.request.headers['content-type']).toBe('application/json');
  });

  it.each([301, 404, 500])(
    'that answers %d did not accept the notice; the error does not contain its address',
    async (status) => {
      await using hook = await openHook(status);
      const error = await hook.post(signal).catch(String);
      expect(error).toBe(`Error: the webhook answered ${status}`);
    },
  );

  it('that does not answer in time did not accept it', async () => {
    await using hook = await openHook('never');
    await expect(hook.post(signal, 50)).rejects.toThrow(/no answer from the webhook: (?!.*s3cret)/);
  });

  it('is not waited for when po-sync stops', async () => {
    await using hook = await openHook('never');
    const end = new AbortController();
    const posting = hook.post(end.signal);
    end.abort();
    await expect(posting).rejects.toThrow('po-sync is stopping');
  });
});
