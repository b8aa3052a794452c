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
