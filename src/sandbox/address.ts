import { once } from 'node:events';
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { failureText, JSON_TYPE } from './reply.ts';
import { cutLater } from './request.ts';

/** A host and port that receives calls, and that can disappear and come back. */
export type Address = {
  /** `http://127.0.0.1:40123`, even while nothing listens there. */
  readonly url: string;
  /** Stops listening and closes every open connection. */
  vanish(): Promise<void>;
  /** Listens on the same port again. */
  comeBack(): Promise<void>;
  /** Accepts no more calls, gives calls in progress two seconds, then closes their connections. */
  [Symbol.asyncDispose](): Promise<void>;
};

const GRACE = 2000;
/** How long a request may take to arrive, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Opens an address; port 0 selects a free port. Throws PoSyncError `sandbox-port-in-use` or `sandbox-cannot-listen`.
 */
export async function openAddress(
  host: string,
  port: number,
  take: RequestListener,
  patience = PATIENCE,
): Promise<Address> {
  const calls: Calls = new WeakMap();
  const server = createHttpServer(patience, calls);
  let isClosing = false;
  server.on('request', (request, response) => {
    calls.set(request.socket, response);
    if (isClosing) response.setHeader('connection', 'close');
    take(request, response);
  });
  const chosen = await listen(server, host, port);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`,
    async vanish() {
      const closed = close(server);
      server.closeAllConnections();
      await closed;
    },
    async comeBack() {
      if (!server.listening) await listen(server, host, chosen);
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      isClosing = true;
      const closed = close(server);
      const grace = new AbortController();
      await Promise.race([closed, sleep(GRACE, undefined, { signal: grace.signal })]).catch(
        () => undefined,
      );
      grace.abort();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The last response on each connection. */
type Calls = WeakMap<Duplex, ServerResponse>;

/** A server that answers everything that is not a valid call with an envelope. */
function createHttpServer(patience: number, calls: Calls): Server {
  const server = createServer({
    requireHostHeader: false,
    keepAliveTimeout: 60_000,
    requestTimeout: patience,
    headersTimeout: patience,
    connectionsCheckingInterval: patience / 12,
  });
  // A client that half-closes its connection still gets its answers. Node supports this switch without documenting it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', (error, socket) => {
    const last = calls.get(socket);
    const refuse = () => refuseRaw(socket, codeOf(error));
    // It was answered before it was complete: one answer is enough.
    if (last?.writableEnded && !last.req.complete) socket.destroy();
    // A complete request precedes the invalid bytes: answer it first.
    else if (last?.req.complete && !last.writableFinished && !last.destroyed)
      last.once('finish', refuse);
    else refuse();
  });
  server.on('checkExpectation', (_request, response) => {
    const body = failureText(417, 'The header Expect is not supported.');
    response.writeHead(417, { 'content-type': JSON_TYPE, 'content-length': body.length }).end(body);
  });
  server.on('connect', (_request, socket) =>
    endRaw(socket, 405, 'The method CONNECT is not supported.'),
  );
  return server;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw cannotListen(host, port, toError(error));
  });
  const address: AddressInfo | string | null = server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function cannotListen(host: string, port: number, cause: Error): PoSyncError {
  const facts = { host, port };
  if (codeOf(cause) === 'EADDRINUSE') {
    const message = `Port ${port} on ${host} is in use by another program.`;
    return new PoSyncError('sandbox-port-in-use', message, {
      remedy:
        'Stop that program, or choose another port with --port or --auth-port; 0 is any free port.',
      facts,
      cause,
    });
  }
  return new PoSyncError(
    'sandbox-cannot-listen',
    `The sandbox cannot listen on ${host}:${port}: ${cause.message}.`,
    {
      remedy: 'Use an address of this machine for --host, and a port that your user may open.',
      facts,
      cause,
    },
  );
}

/** Answers bytes that are not an HTTP request with an envelope. */
function refuseRaw(socket: Duplex, code: string | undefined): void {
  if (code === 'HPE_HEADER_OVERFLOW') endRaw(socket, 431, 'The request headers are too large.');
  else if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    endRaw(socket, 408, 'The request did not arrive in time.');
  else endRaw(socket, 400, 'The request is not valid HTTP.');
}

function endRaw(socket: Duplex, status: number, message: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = failureText(status, message);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${JSON_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  cutLater(socket);
}

/** Returns whether a peer may call. */
export type AllowList = (peer: { readonly remoteAddress?: string | undefined }) => boolean;

/**
 * Reads CIDR ranges (`10.0.0.0/8`, `::1/128`) and single addresses; an empty list admits every peer.
 * Throws PoSyncError `sandbox-allow-ip-invalid`.
 */
export function allowList(ranges: readonly string[]): AllowList {
  if (ranges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return ({ remoteAddress }) => {
    if (remoteAddress === undefined) return false;
    const plain = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix, ...rest] = range.trim().split('/');
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (version === 0 || rest.length > 0 || bits < 0 || bits > longest) {
    throw new PoSyncError('sandbox-allow-ip-invalid', `"${range}" is not an address range.`, {
      remedy: 'Use a range such as 10.0.0.0/8, 192.168.1.17 or fd00::/8.',
      facts: { value: range },
    });
  }
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
}
