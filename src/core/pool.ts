import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import { toError } from './errors.ts';
import { explainConnection } from './network-error.ts';
import type { Tls } from './tls-files.ts';
import { openTunnel, type ProxyServer } from './tunnel.ts';

/** How connections to other machines are made; absent parts: directly, with the public certificate authorities. */
export type Route = {
  /** The proxy to an origin; undefined: none. */
  proxyTo?: (origin: URL) => ProxyServer | undefined;
  tls?: Tls | undefined;
};

/** Connections to one origin: HTTP/1.1, one request at a time on each. `connectTimeout` in milliseconds. */
export function openPool(
  origin: string,
  connections: number,
  connectTimeout: number,
  route: Route,
): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    // Shorter than servers keep it: a connection that closes during a write puts an order in doubt.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 32 * 1024,
    // An exchange has its own time limits, which do not count what `prepare` takes.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: createConnector(new URL(origin), connectTimeout, route),
  });
}

/** How much of the time to connect a proxy may take, so that its silence is reported before the call times out. */
const TUNNEL_SHARE = 0.8;

type Callback = Parameters<buildConnector.connector>[1];

/**
 * Connects to `origin`, through a tunnel if there is a proxy: the proxy never reads a request. Errors explain what failed
 * (`proxy-…`, `tls-…`).
 */
function createConnector(
  origin: URL,
  timeout: number,
  { proxyTo, tls }: Route,
): buildConnector.connector {
  const proxy = proxyTo?.(origin);
  const { hasCertificate = false, ...secure }: Partial<Tls> = tls ?? {};
  const connect = buildConnector({ timeout, rejectUnauthorized: true, allowH2: false, ...secure });
  return (target, callback) => {
    const settle: Callback = (...result) => {
      const [error, socket] = result;
      if (error !== null || !socket)
        return callback(explainConnection(toError(error), target.host ?? origin.host), null);
      // Bytes that follow must find the listeners of undici.
      dropInterimAnswers(socket);
      callback(null, socket);
    };
    const begin = (httpSocket?: Socket) => {
      const accept: Callback = (...result) => whenAccepted(result, hasCertificate, settle);
      connect(httpSocket ? { ...target, httpSocket } : target, accept);
    };
    if (proxy === undefined) return begin();
    openTunnel(proxy, authorityOf(origin), timeout * TUNNEL_SHARE).then(
      (socket) => (origin.protocol === 'https:' ? begin(socket) : settle(null, socket)),
      (error: unknown) => callback(toError(error), null),
    );
  };
}

/** Milliseconds to wait for a server's verdict on a client certificate. Servers without session tickets give none. */
const ACCEPTED_WITHIN = 1_000;

/**
 * With TLS 1.3, a handshake ends for the client before the server has checked its certificate. A ticket, or an alert,
 * shows the result; without this wait, a request could be written to a server that has already refused it.
 */
function whenAccepted(
  result: Parameters<Callback>,
  hasCertificate: boolean,
  settle: Callback,
): void {
  const [, socket] = result;
  if (!socket || !hasCertificate || !isTls13(socket)) {
    settle(...result);
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const finish = (...end: Parameters<Callback>) => {
    clearTimeout(timer);
    socket.off('session', onSession).off('error', onError).off('close', onClose);
    settle(...end);
  };
  // Later: the ticket comes while the TLS library is reading, and what is written then is never answered.
  const onSession = () => setImmediate(() => finish(null, socket));
  const onError = (error: Error) => finish(error, null);
  const onClose = () =>
    finish(new Error('closed before secure TLS connection was established'), null);
  timer = setTimeout(onSession, ACCEPTED_WITHIN);
  socket.once('session', onSession).on('error', onError).on('close', onClose);
}

function isTls13(socket: Socket): socket is TLSSocket {
  return 'getProtocol' in socket && (socket as TLSSocket).getProtocol() === 'TLSv1.3';
}

/** Host and port, also the usual one. */
function authorityOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

const EMPTY = Buffer.alloc(0);
/** Where the first digit of the status is, in `HTTP/1.1 100 Continue`. */
const STATUS_AT = 9;
/** Bytes; a longer head is left to the parser, which refuses it. */
const LONGEST_HEAD = 32 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Drops interim answers (HTTP 1xx) before undici reads them: a server may send any number before the final answer (RFC 9110
 * part 15.2), but undici ends a connection that gets a `100 Continue`.
 */
function dropInterimAnswers(socket: Socket): void {
  const [read, write] = [socket.read, socket.write];
  let isAnswerDue = false;
  let held: Buffer = EMPTY;
  socket.write = ((...args: Parameters<typeof write>) => {
    isAnswerDue = true;
    return write.apply(socket, args);
  }) as typeof write;
  socket.read = (size?: number) => {
    if (!isAnswerDue) return read.call(socket, size);
    for (let chunk = read.call(socket, size); chunk !== null; chunk = read.call(socket, size)) {
      held = withoutInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      if (mayBecomeInterim(held)) continue;
      isAnswerDue = false;
      const answer = held;
      held = EMPTY;
      return answer;
    }
    return null;
  };
}

function withoutInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isInterim(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end < 0) return rest;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

/** 101 is final: it ends HTTP on this connection. */
function isInterim(bytes: Buffer): boolean {
  return (
    bytes[STATUS_AT] === 0x31 &&
    bytes.length > STATUS_AT + 2 &&
    bytes.toString('latin1', STATUS_AT, 12) !== '101'
  );
}

/** More bytes are needed to tell, or to find the end of an interim answer. */
function mayBecomeInterim(bytes: Buffer): boolean {
  if (bytes.length <= STATUS_AT) return true;
  return (
    bytes[STATUS_AT] === 0x31 &&
    bytes.length < LONGEST_HEAD &&
    (bytes.length < 12 || isInterim(bytes))
  );
}
