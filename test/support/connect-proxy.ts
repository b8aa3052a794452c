import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** How a proxy treats the next connections. */
export type ProxyMood =
  | 'tunnel'
  /** Accepts the connection and never answers. */
  | 'silent'
  /** Closes the connection at once. */
  | 'reset'
  /** 502 without a tunnel. */
  | 'bad gateway'
  /** Answers something that is not HTTP. */
  | 'garbage';

type Options = {
  /** `user:password`; without it 407. */
  credentials?: string;
  /** Where a host leads; absent: to itself. */
  hosts?: Record<string, number>;
};

/** A CONNECT proxy on loopback that can misbehave. It keeps what callers asked for and what it could read. */
export async function openConnectProxy({ credentials, hosts = {} }: Options = {}) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    keep(client);
    if (opened.mood === 'silent') client.resume();
    else if (opened.mood === 'reset') client.resetAndDestroy();
    else void serve(client);
  });

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }

  async function serve(client: Socket): Promise<void> {
    const head = await headOf(client);
    const [, authority = ''] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
    opened.asked.push(head.split('\r\n')[0] ?? '');
    if (authority === '') return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    if (opened.mood === 'garbage') return void client.end('SSH-2.0-OpenSSH_9.2\r\n\r\n');
    if (opened.mood === 'bad gateway')
      return void client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    if (
      credentials !== undefined &&
      !head.includes(`Basic ${Buffer.from(credentials).toString('base64')}`)
    ) {
      return void client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
      );
    }
    const [host = '', port] = authority.split(/:(?=\d+$)/);
    const target = connect({ host: '127.0.0.1', port: hosts[host] ?? Number(port) });
    keep(target);
    target.once('connect', () => {
      opened.tunnels += 1;
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const)
      one.on('close', () => other.destroy());
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const opened = {
    mood: 'tunnel' as ProxyMood,
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    /** The first lines of the requests. */
    asked: [] as string[],
    tunnels: 0,
    /** Ends every connection, as a killed proxy does. */
    dropAll(): void {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async [Symbol.asyncDispose]() {
      opened.dropAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return opened;
}

async function headOf(socket: Socket): Promise<string> {
  let text = '';
  while (!text.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  return text;
}
