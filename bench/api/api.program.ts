// The fastest Purchase-Order API possible with node:http: it stores only how often it received each number.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ApiOrder, ApiSeen } from './api-messages.ts';

const TOKEN = JSON.stringify({
  access_token: 'bench-token',
  token_type: 'Bearer',
  expires_in: 3600,
});

let seen = new Map<string, number>();
let latency = 0;
let expected = 0;
let posts = 0;
let firstAt = 0;
let lastAt = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === 'GET') return answer(response, 200, listOf());
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString();
    if (request.url?.endsWith('/purchase-orders')) create(request, response, body);
    else answer(response, 200, TOKEN);
  });
});

function create(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.headers.authorization !== 'Bearer bench-token') {
    answer(response, 401, '{"status":"error","error":{"code":401,"message":"no token"}}');
    return;
  }
  lastAt = Date.now();
  if (posts === 0) firstAt = lastAt;
  posts += 1;
  const { purchaseOrderNumber: number, orderState } = JSON.parse(body);
  seen.set(number, (seen.get(number) ?? 0) + 1);
  const said = JSON.stringify({
    status: 'success',
    data: { purchaseOrderNumber: number, orderState },
    error: null,
  });
  if (latency > 0) setTimeout(() => created(response, said), latency);
  else created(response, said);
}

function created(response: ServerResponse, said: string): void {
  answer(response, 201, said);
  if (posts === expected) process.send?.('reached');
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function listOf(): string {
  const orders = Array.from(seen.keys(), (purchaseOrderNumber) => ({
    purchaseOrderNumber,
    orderState: 'NEW',
  }));
  return JSON.stringify({ status: 'success', data: orders, error: null });
}

process.on('message', (order: ApiOrder) => {
  if (order.kind === 'begin') {
    ({ latency, expected } = order);
    seen = new Map();
    posts = 0;
  }
  if (order.kind === 'slow') ({ latency } = order);
  const told: ApiSeen = { posts, orders: seen.size, firstAt, lastAt };
  process.send?.(told);
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
