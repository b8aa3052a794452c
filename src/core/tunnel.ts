import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { PoSyncError } from './errors.ts';
import { explainConnection } from './network-error.ts';

/** An HTTP proxy. `url` never contains credentials; `authorization` is the complete header value. */
export type ProxyServer = { url: URL; authorization?: string | undefined };

/** Bytes; a longer answer to CONNECT is refused. */
const LONGEST_HEAD = 16 * 1024;
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?$/m;

/**
 * Asks a proxy for a tunnel to `authority` (host:port). Resolves to a connection on which nothing was written or read
 * yet. `timeout` in milliseconds. Rejects with PoSyncError `proxy-unreachable`, `proxy-timeout`, `proxy-authentication`
 * or `proxy-refused`. RFC 9110 part 9.3.6.
 */
export async function openTunnel(
  proxy: ProxyServer,
  authority: string,
  timeout: number,
): Promise<Socket> {
  const socket = connectTo(proxy.url);
  const timer = setTimeout(() => socket.destroy(silent(proxy, timeout)), timeout);
  try {
    await whenConnected(socket, proxy);
    socket.write(requestFor(proxy, authority));
    const head = await readHead(socket, proxy);
    const [, status = '', phrase = ''] = STATUS_LINE.exec(head) ?? [];
    if (!status.startsWith('2'))
      throw refusal(
        proxy,
        authority,
        status === '' ? 'something other than HTTP' : `${status} ${phrase}`.trim(),
      );
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** `proxy.example.com:3128`, for messages. */
export function proxyName({ url }: ProxyServer): string {
  return url.host;
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) }).setNoDelay(true);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const to = { host, port: Number(port || 443), ALPNProtocols: ['http/1.1'], ...servername };
  return connectTls(to).setNoDelay(true);
}

function whenConnected(socket: Socket, proxy: ProxyServer): Promise<void> {
  return new Promise((resolve, reject) => {
    // The listener stays: an error after this promise is settled must not end the process.
    socket.on('error', (error) => reject(away(proxy, error)));
    socket.once(proxy.url.protocol === 'https:' ? 'secureConnect' : 'connect', resolve);
  });
}

function requestFor({ authorization }: ProxyServer, authority: string): string {
  const credentials =
    authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`;
}

/** Reads up to the end of the head and puts back what follows. */
function readHead(socket: Socket, proxy: ProxyServer): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onReadable = () => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const end = bytes.indexOf(HEAD_END);
        if (end >= 0)
          return finish(bytes.toString('latin1', 0, end), bytes.subarray(end + HEAD_END.length));
        if (bytes.length > LONGEST_HEAD) return fail(new Error('its answer is too long'));
      }
    };
    const onEnd = () => fail(new Error('it closed the connection'));
    const onError = (error: Error) => fail(error);
    const release = () => {
      socket
        .off('readable', onReadable)
        .off('end', onEnd)
        .off('close', onEnd)
        .off('error', onError);
    };
    const fail = (error: Error) => {
      release();
      reject(away(proxy, error));
    };
    const finish = (head: string, rest: Buffer) => {
      release();
      if (rest.length > 0) socket.unshift(rest);
      resolve(head);
    };
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
  });
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
