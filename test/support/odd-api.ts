import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { listen, openWebServer } from './web-server.ts';

export type Endpoint = 'token' | 'create' | 'list';

export type StoredOrder = {
  purchaseOrderNumber: string;
  orderState: string;
  items: { articleCode: string; quantity: number }[];
};

/** What one call gets. `drop` ends the connection, `hang` never answers; `store: false` keeps an order out of the store. */
export type OddAnswer = {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  after?: number;
  drop?: true;
  hang?: true;
  store?: boolean;
  /** Writes the answer itself. */
  raw?: (socket: Socket) => void;
};

export type OddCall = {
  endpoint: Endpoint;
  /** Counts the calls of this endpoint from 1. */
  nth: number;
  order?: StoredOrder;
  /** Counts the calls for this order number from 1. */
  attempt: number;
  token: string;
  path: string;
  headers: IncomingHttpHeaders;
};

/** Decides about a call; undefined leaves it to the ordinary API. */
export type Oddity = (call: OddCall, api: OddApi) => OddAnswer | undefined;

type OddRecord = {
  endpoint: Endpoint;
  path: string;
  /** `User-Agent`. */
  agent: string | undefined;
  at: number;
  order?: string;
  status: number;
  stored: boolean;
};

export type OddApi = AsyncDisposable & {
  url: string;
  baseUrl: string;
  authUrl: string;
  /** What the API holds, one entry a created order. */
  stored: StoredOrder[];
  /** `stored`: the call created an order, whatever it was answered. */
  calls: OddRecord[];
  /** The behavior; it may change while the API runs. */
  oddity: Oddity;
  /** Called with the connection before and after an answer is written. */
  onAnswer?: (socket: Socket) => void;
  onAnswered?: (socket: Socket) => void;
  /** Tokens that are valid now; an empty set takes any. */
  revoked: Set<string>;
};

/**
 * A small Purchase-Order API whose answers a test decides, for as long as it likes. Everything that the oddity leaves
 * open follows the API (docs/purchase-order-api.md): a token, 201 for a new order, the list of what is stored.
 */
export async function openOddApi(
  oddity: Oddity = () => undefined,
  tls?: { key: string; cert: string },
): Promise<OddApi> {
  const counts = new Map<string, number>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const call = callOf(request, body);
    const odd = api.oddity(call, api) ?? {};
    const record = {
      endpoint: call.endpoint,
      path: call.path,
      agent: request.headers['user-agent'],
      at: performance.now(),
      status: 0,
      stored: false,
      ...(call.order ? { order: call.order.purchaseOrderNumber } : {}),
    };
    api.calls.push(record);
    if (odd.after) await delay(odd.after);
    if (odd.hang) return;
    record.stored = call.order !== undefined && (odd.store ?? isOrdinary(odd, call));
    if (call.order && record.stored) api.stored.push(call.order);
    if (odd.drop) return void request.socket.destroy();
    if (odd.raw) return odd.raw(request.socket);
    const ordinary = ordinaryAnswer(call);
    const status = odd.status ?? ordinary.status;
    const content =
      odd.body ?? (odd.status === undefined ? ordinary.body : envelope(odd.status, 'odd'));
    record.status = status;
    const sent = typeof content === 'string' ? content : JSON.stringify(content);
    const { socket } = request;
    api.onAnswer?.(socket);
    response.once('finish', () => api.onAnswered?.(socket));
    response.writeHead(status, { 'content-type': 'application/json', ...odd.headers }).end(sent);
  }

  function isOrdinary({ status, drop }: OddAnswer, { token }: OddCall): boolean {
    return status === undefined && !drop && !api.revoked.has(token);
  }

  function callOf(request: IncomingMessage, body: string): OddCall {
    const path = request.url ?? '';
    const endpoint = path.includes('token')
      ? 'token'
      : request.method === 'POST'
        ? 'create'
        : 'list';
    const order = endpoint === 'create' ? (JSON.parse(body) as StoredOrder) : undefined;
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const attempt = order ? count(`order ${order.purchaseOrderNumber}`) : 1;
    const { headers } = request;
    const call = { endpoint, nth: count(endpoint), attempt, token, path, headers } as const;
    return { ...call, ...(order ? { order } : {}) };
  }

  function count(what: string): number {
    const next = (counts.get(what) ?? 0) + 1;
    counts.set(what, next);
    return next;
  }

  function ordinaryAnswer({ endpoint, nth, order, token }: OddCall): {
    status: number;
    body: unknown;
  } {
    if (endpoint === 'token') return { status: 200, body: granted(`token-${nth}`) };
    if (api.revoked.has(token))
      return { status: 401, body: envelope(401, 'the token was revoked') };
    if (endpoint === 'list') return { status: 200, body: listed(api.stored) };
    return { status: 201, body: created(order?.purchaseOrderNumber ?? '') };
  }

  const server =
    tls === undefined
      ? await openWebServer((a, b) => void answer(a, b))
      : await openTls(tls, answer);
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`;
  const api: OddApi = {
    url,
    baseUrl: `${url}/api/v1`,
    authUrl: url,
    stored: [],
    calls: [],
    oddity,
    revoked: new Set(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return api;
}

/** One endpoint is odd, the others are ordinary. */
export function oddAt(endpoint: Endpoint, answer: Oddity): Oddity {
  return (call, api) => (call.endpoint === endpoint ? answer(call, api) : undefined);
}

/** One number for each order that was created, in that order. */
export function storedNumbers({ stored }: OddApi): string[] {
  return stored.map(({ purchaseOrderNumber }) => purchaseOrderNumber);
}

async function openTls(
  tls: { key: string; cert: string },
  answer: (a: IncomingMessage, b: ServerResponse) => Promise<void>,
) {
  const server = createTlsServer(tls, (request, response) => void answer(request, response));
  return {
    port: await listen(server),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function envelope(code: number, message: string): unknown {
  return { status: 'error', data: null, error: { code, message } };
}

export function created(purchaseOrderNumber: string): unknown {
  return { status: 'success', data: { purchaseOrderNumber, orderState: 'NEW' }, error: null };
}

export function listed(purchaseOrders: readonly unknown[]): unknown {
  return { status: 'success', data: { purchaseOrders }, error: null };
}

export function granted(token: string): unknown {
  return { access_token: token, token_type: 'Bearer', expires_in: 3600 };
}
