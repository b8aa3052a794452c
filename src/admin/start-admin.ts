import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isLoopback } from '../config/fields.ts';
import type { AdminTokens } from '../config/secrets.ts';
import { systemClock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { createSemaphore, holdWithin } from '../core/semaphore.ts';
import { addressOf, cookieOf, createGuard, type Guard } from './http/guard.ts';
import { type Checks, healthRoutes } from './http/health.ts';
import {
  type AdminRequest,
  matchPath,
  problemReply,
  type Reply,
  type Route,
  readBody,
  refuseUpload,
  UPLOAD_TAKES,
  UPLOAD_WAITS,
} from './http/route.ts';
import { refusedPage } from './http/sign-in.ts';

export type AdminOptions = {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** The configuration file that sets both. */
  file: string;
  /** Without any, whoever reaches a loopback address may read. */
  tokens?: AdminTokens | undefined;
  /** Instead of one that knows only the tokens. */
  guard?: Guard | undefined;
  checks: Checks;
  /** Connections that may be open; when there are more, the oldest without a request in progress is closed. */
  connections?: number;
  /** Routes besides health. */
  routes?: readonly Route[];
  /** Answers a person at an address without a page. */
  missing?: (request: AdminRequest) => Promise<Reply>;
};

export type Admin = AsyncDisposable & { port: number };

/**
 * Serves the admin port: health, and the given routes. Throws PoSyncError `port-occupied`, `admin-unavailable` if the
 * address cannot be used, `admin-token-missing` if other machines could reach it without a token.
 */
export async function startAdmin(options: AdminOptions): Promise<Admin> {
  const { host, tokens = new Map(), checks, routes = [], missing } = options;
  if (tokens.size === 0 && !isLoopback(host)) throw unguarded(host);
  const guard = options.guard ?? createGuard({ host, tokens });
  const answer = answering([...healthRoutes(checks), ...routes], guard, missing);
  const server = createServer({
    headersTimeout: 5_000,
    requestTimeout: UPLOAD_WAITS + UPLOAD_TAKES,
    keepAliveTimeout: 5_000,
  });
  keepRoom(server, options.connections);
  const isAlone = oneRequestAtATime();
  server.on('request', (request, response) => {
    if (!isAlone(request, response)) return void request.socket.destroy();
    answer(request)
      .catch((error: unknown) => problemReply(error))
      .then((ready) => send(request, response, ready))
      .catch(() => response.destroy());
  });
  const bound = await listen(server, options);
  return { port: bound, [Symbol.asyncDispose]: () => close(server) };
}

/**
 * Whether a connection has no other request in progress. Requests that do not wait for answers (pipelining) would
 * fill the memory, and no browser, probe or scraper sends any. A client can read the end of a large answer, and ask
 * again, before this process sees that it was written: one answer of a connection may be on its way.
 */
function oneRequestAtATime(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const unfinished = new WeakMap<Socket, ServerResponse[]>();
  return ({ socket }, response) => {
    const before = unfinished.get(socket) ?? [];
    if (before.length > 1 || before.some(({ writableEnded }) => !writableEnded)) return false;
    unfinished.set(socket, [...before, response]);
    response.once('close', () => {
      const left = (unfinished.get(socket) ?? []).filter((one) => one !== response);
      unfinished.set(socket, left);
    });
    return true;
  };
}

/** Open connections: an open page has one. */
const MOST_CONNECTIONS = 600;

/** A neighbor that holds connections must not keep a supervisor from asking for health, nor cut a request in progress. */
function keepRoom(server: Server, most = MOST_CONNECTIONS): void {
  const open = new Set<Socket>();
  const busy = new Set<Socket>();
  server.on('request', ({ socket }, response) => {
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= most) return;
    const [oldest] = open;
    (open.values().find((one) => !busy.has(one)) ?? oldest)?.destroy();
  });
}

/** Answers a request: its origin, then its path, then who asks, then what they may do. */
function answering(
  routes: readonly Route[],
  guard: Guard,
  missing: AdminOptions['missing'],
): (request: IncomingMessage) => Promise<Reply> {
  // A body and the file in it are in memory several times: one upload at a time is read and handled.
  const uploads = createSemaphore(1);
  return async (request) => {
    const foreign = guard.refuseForeign(request);
    if (foreign) return foreign;
    const url = new URL(
      request.url?.startsWith('/') ? `http://admin${request.url}` : 'http://admin/',
    );
    const here = routes.flatMap((route) => {
      const params = matchPath(route.path, url.pathname);
      return params === undefined ? [] : [{ route, params }];
    });
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = here.find(({ route }) => route.method === method);
    const principal = await guard.identify(request);
    if (principal !== undefined && 'status' in principal) return principal;
    const refusal = guard.refuseRole(principal, found?.route ?? here[0]?.route);
    if (refusal?.status === 401 && asksForPage(request, url)) return toLogin(url);
    if (refusal && readsPages(request, url))
      return refusedPage(principal, guard.hasTokens, refusal.status);
    if (refusal) return refusal;
    if (found === undefined && here.length > 0) return wrongMethod(here.map(({ route }) => route));
    const from = { address: addressOf(request), isPlain: guard.isPlain(request) };
    const asked = { url, principal, cookie: cookieOf(request.headers), ...from };
    if (found === undefined && asksForPage(request, url) && missing)
      return missing({ ...asked, params: {}, body: '' });
    if (found === undefined) return notFound();
    const { route, params } = found;
    const handle = async () =>
      route.handle({ ...asked, params, body: await readBody(request, route.body) });
    if (route.body !== 'upload') return handle();
    const reply = await holdWithin(UPLOAD_WAITS, uploads, handle, systemClock);
    return reply ?? refuseUpload(request);
  };
}

/** A person without a login who opens a page is sent to the login. */
function asksForPage(request: IncomingMessage, url: URL): boolean {
  return request.method === 'GET' && readsPages(request, url);
}

/** Whether a browser shows the answer to a person. */
function readsPages({ headers }: IncomingMessage, { pathname }: URL): boolean {
  return !pathname.startsWith('/api/') && /\btext\/html\b/.test(headers.accept ?? '');
}

function toLogin({ pathname, search }: URL): Reply {
  const to = pathname === '/' ? '' : `?to=${encodeURIComponent(pathname + search)}`;
  return { status: 303, type: 'text/plain', body: '', headers: { location: `/login${to}` } };
}

function notFound(): Reply {
  return problemReply(
    new PoSyncError('not-found', 'There is nothing at this address.', {
      remedy: 'Correct the address. The dashboard begins at /, and the control API at /api/v1.',
    }),
  );
}

function wrongMethod(routes: readonly Route[]): Reply {
  const allowed = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const error = new PoSyncError('method-not-allowed', `Use ${allowed.join(' or ')}.`);
  return problemReply(error, 405, { allow: allowed.join(', ') });
}

/** What a page of this port may load and call: nothing from elsewhere, no code in its text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<void> {
  const { body } = reply;
  const headers = { ...HEADERS, 'content-type': reply.type, ...reply.headers };
  if (body instanceof Readable) {
    response.writeHead(reply.status, headers);
    if (request.method === 'HEAD') {
      body.destroy();
      response.end();
    } else await pipeline(body, response);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // What is left of a refused body would be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(reply.status, { ...headers, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

async function listen(server: Server, { host, port, file }: AdminOptions): Promise<number> {
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ''));
    await once(server, 'listening');
  } catch (error) {
    throw unavailable({ host, port }, file, error);
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function unavailable(
  facts: { host: string; port: number },
  file: string,
  cause: unknown,
): PoSyncError {
  const { host, port } = facts;
  if (codeOf(cause) === 'EADDRINUSE') {
    const remedy = `Check first whether po-sync already runs here (po-sync status). If another program has the port, set another admin.port in ${file}, or PO_SYNC_ADMIN_PORT=0 for any free port. Where PO_SYNC_ADMIN_PORT is set, admin.port has no effect.`;
    return new PoSyncError('port-occupied', `The admin port ${host}:${port} is occupied.`, {
      remedy,
      facts,
      cause,
    });
  }
  const reason = codeOf(cause) ?? toError(cause).message;
  const remedy = `Correct admin.host and admin.port in ${file}.`;
  return new PoSyncError(
    'admin-unavailable',
    `The admin port cannot be opened at ${host}:${port} (${reason}).`,
    {
      remedy,
      facts,
      cause,
    },
  );
}

function unguarded(host: string): PoSyncError {
  return new PoSyncError(
    'admin-token-missing',
    `Other machines could reach the admin port at ${host} without a token.`,
    {
      remedy:
        'Set PO_SYNC_ADMIN_TOKEN, PO_SYNC_ADMIN_READ_TOKEN or PO_SYNC_METRICS_TOKEN, or set admin.host to 127.0.0.1.',
      facts: { host },
    },
  );
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
