import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { openWebServer } from './web-server.ts';

/** An answer: status, body (an object becomes JSON), headers; `drop` ends the connection. */
export type OddAnswer = { status: number; body?: unknown; headers?: Record<string, string> } | 'drop';

/** One call that came in. `n` counts those of its endpoint from 1, `number` is the order's. */
export type OddCall = { endpoint: 'token' | 'create' | 'list'; at: number; n: number; path: string; number: string };

type Habits = {
  token(call: OddCall): OddAnswer;
  create(call: OddCall): OddAnswer;
  list(call: OddCall): OddAnswer;
};

export type OddApi = AsyncDisposable & {
  baseUrl: string;
  authUrl: string;
  /** May be changed at any time. */
  habits: Habits;
  calls: OddCall[];
  /** Numbers of the orders that it stored, in the order of storing. */
  stored: string[];
  /** Most calls of one endpoint within any second that begins `after` milliseconds after its first call. */
  busiestSecond(endpoint: OddCall['endpoint'], after?: number): number;
};

export const success = (data: unknown) => ({ status: 'success', data, error: null });
export const refusal = (code: number, message = 'no') => ({ status: 'error', error: { code, message } });
export const created = (number: string) => ({
  status: 201,
  body: success({ purchaseOrderNumber: number, orderState: 'NEW' }),
});
export const granted = (token: string) => ({
  status: 200,
  body: { access_token: token, token_type: 'Bearer', expires_in: 3600 },
});

/** A small API that keeps to the rules except where a test gives it other habits. */
export async function openOddApi(habits: Partial<Habits> = {}): Promise<OddApi> {
  const calls: OddCall[] = [];
  const stored: string[] = [];
  const usual: Habits = {
    token: ({ n }) => granted(`token-${n}`),
    create: ({ number }) => created(number),
    list: () => ({ status: 200, body: success(stored.map((number) => ({ purchaseOrderNumber: number }))) }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const path = request.url ?? '';
    const endpoint = path.includes('/oauth') ? 'token' : request.method === 'POST' ? 'create' : 'list';
    const number =
      endpoint === 'create' ? (JSON.parse(body) as { purchaseOrderNumber: string }).purchaseOrderNumber : '';
    const n = calls.filter((call) => call.endpoint === endpoint).length + 1;
    const call: OddCall = { endpoint, at: performance.now(), n, path, number };
    calls.push(call);
    const said = api.habits[endpoint](call);
    if (said === 'drop') return void request.socket.destroy();
    if (endpoint === 'create' && said.status < 300) stored.push(number);
    const content =
      said.body === undefined ? '' : typeof said.body === 'string' ? said.body : JSON.stringify(said.body);
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers }).end(content);
  }

  const server = await openWebServer((request, response) => void answer(request, response).catch(() => undefined));
  const url = `http://127.0.0.1:${server.port}`;
  const api: OddApi = {
    baseUrl: `${url}/api/v1`,
    authUrl: url,
    habits: { ...usual, ...habits },
    calls,
    stored,
    busiestSecond(endpoint, after = 0) {
      const times = calls.filter((call) => call.endpoint === endpoint).map(({ at }) => at);
      const begin = (times[0] ?? 0) + after;
      const late = times.filter((at) => at >= begin);
      return Math.max(0, ...late.map((from) => late.filter((at) => at >= from && at < from + 1000).length));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return api;
}
