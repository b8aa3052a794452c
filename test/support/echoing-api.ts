import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { openWebServer } from './web-server.ts';

/** A partner that repeats every secret it is sent in its answers, as chatty proxies and debug pages do. */
export type EchoingApi = AsyncDisposable & {
  url: string;
  /** Every access token that it ever gave. */
  tokens: string[];
  /** Webhook calls and export downloads that came here. */
  calls: string[];
  /** The values of the further headers of calls to the API. */
  received: string[];
  /** Host and port of a Redis that refuses every command and repeats it. */
  redis: string;
  /** From now on no token is given, and the refusal repeats what was asked. */
  refuseTokens(): void;
};

/** How it answers an order, by what its number begins with; others are accepted. */
const ANSWERS: Record<string, (said: string) => [status: number, body: string, type?: string]> = {
  REFUSED: (said) => [400, envelope(400, `Parameters are invalid (${said})`)],
  BROKEN: (said) => [500, `<html><pre>${said}</pre></html>`, 'text/html'],
  STRANGE: (said) => [200, `<pre>${said}</pre>`, 'text/html'],
  AWAY: (said) => [503, envelope(503, said)],
};

export async function openEchoingApi(exported: string): Promise<EchoingApi> {
  const tokens: string[] = [];
  const calls: string[] = [];
  const keys = new Set<string>();
  const stored = new Map<string, object>();
  let isRefusing = false;
  let unauthorized = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const path = request.url ?? '';
    for (const name of ['x-api-key', 'x-other-key']) keys.add(String(request.headers[name]));
    const received = Object.entries(request.headers).map(
      ([name, value]) => `${name}: ${String(value)}`,
    );
    const said = `${request.method} ${path} ${received.join(' ')} ${body}`;
    const reply = (status: number, content: string, type = 'application/json') =>
      void response
        .writeHead(status, { 'content-type': type, ...echoes(said.replace(/[^ -~]/g, '')) })
        .end(content);
    if (path.startsWith('/oauth2/token'))
      return isRefusing ? reply(401, refusal(said)) : reply(200, giveToken());
    if (path.startsWith('/hook') || path.startsWith('/export')) {
      calls.push(path);
      return reply(
        path.startsWith('/export') ? 200 : 500,
        path.startsWith('/export') ? exported : said,
        'text/csv',
      );
    }
    if (request.method === 'GET')
      return reply(
        200,
        envelope(null, 'ok', [...stored.values(), ...echoed(request.headers.authorization ?? '')]),
      );
    // Each token is taken back once, after a few calls.
    unauthorized += 1;
    if (unauthorized % 7 === 3) return reply(401, envelope(401, `Unauthorized: ${said}`));
    const order = JSON.parse(body) as { purchaseOrderNumber: string };
    const special = Object.entries(ANSWERS).find(([prefix]) =>
      order.purchaseOrderNumber.startsWith(prefix),
    );
    if (special) return reply(...special[1](said.replaceAll('"', "'")));
    stored.set(order.purchaseOrderNumber, order);
    return reply(201, envelope(null, 'ok', order));
  }

  function giveToken(): string {
    const token = `tok-${randomBytes(24).toString('base64url')}`;
    tokens.push(token);
    return JSON.stringify({
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'read write',
    });
  }

  const redis = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) =>
      socket.write(`-WRONGPASS ${bytes.toString().replaceAll(/[\r\n]+/g, ' ')}\r\n`),
    );
  }).listen(0, '127.0.0.1');
  await once(redis, 'listening');
  const server = await openWebServer((request, response) => void answer(request, response));
  return {
    url: `http://127.0.0.1:${server.port}`,
    redis: `127.0.0.1:${(redis.address() as AddressInfo).port}`,
    tokens,
    calls,
    get received() {
      return [...keys];
    },
    refuseTokens() {
      isRefusing = true;
    },
    async [Symbol.asyncDispose]() {
      redis.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Orders that repeat it as number and article. */
function echoed(said: string): object[] {
  const items = [{ articleCode: said, quantity: 1 }];
  return [
    { purchaseOrderNumber: said, orderState: 'NEW', items },
    { purchaseOrderNumber: 'LISTED', items },
  ];
}

/** In every header that a client may keep. */
function echoes(said: string): Record<string, string> {
  return { 'x-echo': said, etag: `"${said.slice(0, 900)}"`, 'last-modified': said.slice(0, 900) };
}

function refusal(said: string): string {
  return JSON.stringify({ error: 'invalid_client', error_description: `These are wrong: ${said}` });
}

function envelope(code: number | null, message: string, data: unknown = null): string {
  const error = code === null ? null : { code, message };
  return JSON.stringify({ status: error === null ? 'success' : 'error', data, error });
}
