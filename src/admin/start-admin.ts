import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '../config/fields.ts';
import type { AdminRole, AdminTokens } from '../config/secrets.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { type Checks, healthRoutes, jsonReply, type Reply, type Route } from './endpoints.ts';

export type AdminOptions = {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Without any, a request needs none. */
  tokens?: AdminTokens | undefined;
  checks: Checks;
  /** Routes besides health. */
  routes?: readonly Route[];
};

export type Admin = AsyncDisposable & { port: number };

/**
 * Serves the admin port: health, and the given routes. Throws PoSyncError `port-occupied`, `admin-unavailable` if the
 * address cannot be used, `admin-token-missing` if other machines could reach it without a token.
 */
export async function startAdmin({ host, port, tokens, checks, routes = [] }: AdminOptions): Promise<Admin> {
  if (!tokens?.size && !isLoopback(host)) throw unguarded(host);
  const answer = answering([...healthRoutes(checks), ...routes]);
  const guard = adminGuard(host, tokens ?? new Map());
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 });
  keepRoom(server);
  server.on('request', (request, response) => {
    request.resume();
    const reply = guard(request) ?? answer(request);
    Promise.resolve(reply)
      .catch(() => jsonReply(500, { error: 'Internal error.' }))
      .then((ready) => send(request, response, ready))
      .catch(() => response.destroy());
  });
  const bound = await listen(server, host, port);
  return { port: bound, [Symbol.asyncDispose]: () => close(server) };
}

/** Open connections. When there are more, the oldest is closed. */
const MOST_CONNECTIONS = 100;

/** A neighbor that holds slow connections must not keep a supervisor from asking for health. */
function keepRoom(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const [oldest] = open;
    if (open.size > MOST_CONNECTIONS) oldest?.destroy();
  });
}

function answering(routes: readonly Route[]): (request: IncomingMessage) => Promise<Reply> | Reply {
  return (request) => {
    const url = new URL(request.url?.startsWith('/') ? `http://admin${request.url}` : 'http://admin/');
    const here = routes.filter(({ path }) => path === url.pathname);
    if (here.length === 0) return jsonReply(404, { error: 'Not found.' });
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = here.find((candidate) => candidate.method === method);
    if (route) return settled(() => route.handle({ url }));
    const allowed = here.flatMap((candidate) => (candidate.method === 'GET' ? ['GET', 'HEAD'] : [candidate.method]));
    return jsonReply(405, { error: `Use ${allowed.join(' or ')}.` }, { allow: allowed.join(', ') });
  };
}

/** A route that throws synchronously fails like one that rejects. */
async function settled(handle: () => Promise<Reply> | Reply): Promise<Reply> {
  return handle();
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    'content-type': reply.type,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...reply.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ''));
    await once(server, 'listening');
  } catch (error) {
    throw unavailable(host, port, error);
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function unavailable(host: string, port: number, cause: unknown): PoSyncError {
  const facts = { host, port };
  if (codeOf(cause) === 'EADDRINUSE') {
    const remedy =
      'Set another admin.port, or PO_SYNC_ADMIN_PORT=0 for any free port. Check whether po-sync is already running.';
    return new PoSyncError('port-occupied', `The admin port ${host}:${port} is occupied.`, { remedy, facts, cause });
  }
  const reason = codeOf(cause) ?? toError(cause).message;
  const remedy = 'Correct admin.host and admin.port.';
  return new PoSyncError('admin-unavailable', `The admin port cannot be opened at ${host}:${port} (${reason}).`, {
    remedy,
    facts,
    cause,
  });
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

/** The answer to a request that is refused; undefined for a request that may pass. */
type Guard = (request: IncomingMessage) => Reply | undefined;

/**
 * Guards the admin port. On loopback the Host header must name this machine: a web page can make a browser call
 * 127.0.0.1 under another name (DNS rebinding). With tokens, every request must contain one of them (RFC 6750) that
 * allows what it asks for.
 */
function adminGuard(host: string, tokens: AdminTokens): Guard {
  const known = [...tokens].map(([role, token]) => ({ role, digest: digest(token.reveal()) }));
  return (request) => {
    if (isLoopback(host) && !namesThisMachine(request.headers.host)) {
      return jsonReply(403, { error: 'The Host header must name this machine, such as localhost.' });
    }
    if (known.length === 0) return undefined;
    const given = digest(bearerOf(request));
    const roles = known.filter((one) => timingSafeEqual(one.digest, given)).map(({ role }) => role);
    if (roles.some((role) => allows(role, request))) return undefined;
    if (roles.length > 0) return jsonReply(403, { error: 'The token does not allow this request.' });
    return jsonReply(401, { error: 'A bearer token is required.' }, { 'www-authenticate': 'Bearer realm="po-sync"' });
  };
}

function allows(role: AdminRole, { method, url = '' }: IncomingMessage): boolean {
  if (role === 'operate') return true;
  const isReading = method === 'GET' || method === 'HEAD';
  return isReading && (role === 'read' || /^\/metrics(?:\?|$)/.test(url));
}

function namesThisMachine(host: string | undefined): boolean {
  return host !== undefined && isLoopback(host.replace(/:[0-9]+$/, ''));
}

function bearerOf(request: IncomingMessage): string {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** Digests have equal lengths, so the comparison takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
