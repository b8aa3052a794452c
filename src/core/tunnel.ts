import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { codeOf, PoSyncError } from './errors.ts';
import { explainConnection } from './network-error.ts';

/** An HTTP proxy. `url` never contains credentials; `authorization` is the complete header value. */
export type ProxyServer = { url: URL; authorization?: string | undefined };

/**
 * Asks a proxy for a tunnel to `authority` (host:port). Resolves to a connection on which nothing was written or read
 * yet. `timeout` in milliseconds. Rejects with PoSyncError `proxy-unreachable`, `proxy-timeout`, `proxy-authentication`
 * or `proxy-refused`. RFC 9110 part 9.3.6.
 */
export function openTunnel(
  proxy: ProxyServer,
  authority: string,
  timeout: number,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { protocol, hostname, port } = proxy.url;
  const host = hostname.replace(/^\[|\]$/g, '');
  const { request } = protocol === 'https:' ? https : http;
  const asked = request({
    method: 'CONNECT',
    host,
    port: port || (protocol === 'https:' ? 443 : 80),
    // Node would ask the proxy for the certificate of the host in the header.
    servername: isIP(host) === 0 ? host : '',
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
  });
  const timer = setTimeout(() => asked.destroy(silent(proxy, timeout)), timeout);
  asked.once('connect', ({ statusCode = 0, statusMessage = '' }, socket: Socket, head: Buffer) => {
    clearTimeout(timer);
    // The listener stays: an error after this must not end the process.
    socket.on('error', () => undefined);
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      return resolve(socket.setNoDelay(true));
    }
    socket.destroy();
    reject(refusal(proxy, authority, `${statusCode} ${statusMessage}`.trim()));
  });
  asked.on('error', (error) => {
    clearTimeout(timer);
    const isOther = codeOf(error)?.startsWith('HPE_');
    reject(isOther ? refusal(proxy, authority, 'something other than HTTP') : away(proxy, error));
  });
  asked.end();
  return promise;
}

/** `proxy.example.com:3128`, for messages. */
function proxyName({ url }: ProxyServer): string {
  return url.host;
}

const ADDRESS_REMEDY = 'Check the proxy, and its address in the key proxy or in HTTPS_PROXY.';

function away(proxy: ProxyServer, cause: Error): PoSyncError {
  if (cause instanceof PoSyncError) return cause;
  const explained = explainConnection(cause, proxyName(proxy));
  if (explained instanceof PoSyncError) return explained;
  const message = `the proxy ${proxyName(proxy)} does not accept the connection: ${cause.message || 'no reason given'}.`;
  return new PoSyncError('proxy-unreachable', message, { remedy: ADDRESS_REMEDY, cause });
}

function silent(proxy: ProxyServer, timeout: number): PoSyncError {
  const message = `the proxy ${proxyName(proxy)} did not open a tunnel within ${timeout / 1000} s.`;
  return new PoSyncError('proxy-timeout', message, { remedy: ADDRESS_REMEDY });
}

function refusal(proxy: ProxyServer, authority: string, answer: string): PoSyncError {
  const name = proxyName(proxy);
  if (answer.startsWith('407')) {
    const known =
      proxy.authorization === undefined
        ? 'requires a user name and a password'
        : 'refuses the user name and the password';
    return new PoSyncError('proxy-authentication', `the proxy ${name} ${known} (407).`, {
      remedy:
        'Set PO_SYNC_<ENVIRONMENT>_PROXY_USER and PO_SYNC_<ENVIRONMENT>_PROXY_PASSWORD, or …_FILE for each.',
    });
  }
  return new PoSyncError(
    'proxy-refused',
    `the proxy ${name} refuses a tunnel to ${authority}: it answers ${answer}.`,
    {
      remedy: `Ask the owner of the proxy to allow CONNECT to ${authority}, or name the host in NO_PROXY.`,
    },
  );
}
