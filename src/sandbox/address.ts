import { once } from 'node:events';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
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

/**
 * Opens an address; port 0 selects a free port. Throws PoSyncError `sandbox-port-in-use` or `sandbox-cannot-listen`.
 */
export async function openAddress(
  host: string,
  port: number,
  take: RequestListener,
): Promise<Address> {
  const server = createServer({ keepAliveTimeout: 60_000 });
  let isClosing = false;
  server.on('clientError', refuseRaw);
  const listener: RequestListener = (request, response) => {
    if (isClosing) response.setHeader('connection', 'close');
    take(request, response);
  };
  server.on('request', listener);
  // Otherwise, Node would answer a call with a header Expect itself, without an envelope.
  server.on('checkExpectation', listener);
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
      await Promise.race([closed, sleep(GRACE, undefined, { ref: false })]);
      server.closeAllConnections();
      await closed;
    },
  };
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
function refuseRaw(error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = codeOf(error) === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = failureText(status, 'The request is not valid HTTP.');
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
