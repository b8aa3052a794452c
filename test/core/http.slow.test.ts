import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpCall, type HttpEnd, openHttp } from '../../src/core/http.ts';
import { until } from '../support/until.ts';

/** A server that treats each connection as requested, and records what it receives. */
async function serve(treat: (socket: Socket, received: () => string) => void) {
  const server: Server = createServer();
  const sockets = new Set<Socket>();
  let received = '';
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    treat(socket, () => received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: new URL(`http://127.0.0.1:${port}/orders?a=1`),
    received: () => received,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BODY = '{"purchaseOrderNumber":"4711"}';

describe('http', () => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });

  async function post(url: URL, more: Partial<HttpCall> = {}): Promise<HttpEnd> {
    const http = openHttp({ connections: 2, connectTimeout: 500 });
    open.push(http);
    return http.call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: BODY,
      timeout: 1000,
      ...more,
    });
  }

  async function server(treat: (socket: Socket, received: () => string) => void) {
    const opened = await serve(treat);
    open.push(opened);
    return opened;
  }

  /** Answers once the complete request has arrived. */
  function answering(text: string, then: 'keep' | 'end' | 'reset' = 'keep') {
    return (socket: Socket) =>
      socket.on('data', (chunk) => {
        if (!chunk.toString().includes(BODY)) return;
        socket.write(text);
        if (then === 'end') socket.end();
        if (then === 'reset') socket.resetAndDestroy();
      });
  }

  it('gives a complete answer', async () => {
    const { url, received } = await server(
      answering('HTTP/1.1 201 Created\r\ncontent-length: 2\r\nx-a: b\r\n\r\n{}'),
    );
    const end = await post(url);
    expect(end).toMatchObject({
      kind: 'answered',
      answer: { status: 201, headers: { 'x-a': 'b' } },
    });
    expect(received()).toMatch(/^POST \/orders\?a=1 HTTP\/1\.1\r\n/);
  });

  it('calls a refused connection unsent', async () => {
    const gone = await serve(() => undefined);
    await gone[Symbol.asyncDispose]();
    expect(await post(gone.url)).toMatchObject({ kind: 'unsent' });
  });

  it('calls an unknown host unsent', async () => {
    expect(await post(new URL('http://no-such-host.invalid/'))).toMatchObject({ kind: 'unsent' });
  });

  it('calls a failed TLS handshake unsent', async () => {
    const { url } = await server((socket) => socket.on('data', () => socket.resetAndDestroy()));
    expect(await post(new URL(`https://127.0.0.1:${url.port}/`))).toMatchObject({ kind: 'unsent' });
  });

  it('calls a hanging TLS handshake unsent', async () => {
    const { url } = await server(() => undefined);
    expect(await post(new URL(`https://127.0.0.1:${url.port}/`))).toMatchObject({ kind: 'unsent' });
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['reset after the body', (socket) => socket.on('data', () => socket.resetAndDestroy())],
    ['closed after the body', (socket) => socket.on('data', () => socket.end())],
    ['no answer until the timeout', () => undefined],
    ['half a status line', answering('HTTP/1.1 20', 'end')],
    ['what is not HTTP', answering('SSH-2.0-OpenSSH\r\n', 'end')],
  ])('calls it broken: %s', async (_, treat) => {
    const { url } = await server(treat);
    const end = await post(url);
    expect(end).toMatchObject({ kind: 'broken' });
    expect(end).not.toHaveProperty('status');
  });

  it('a truncated body is broken, with its status', async () => {
    const { url } = await server(
      answering('HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"status"', 'end'),
    );
    expect(await post(url)).toMatchObject({ kind: 'broken', status: 201 });
  });

  it('reports a body that never ends as broken at its limit', async () => {
    const { url } = await server(answering(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(5000)}`));
    expect(await post(url, { maxBytes: 1000 })).toMatchObject({ kind: 'broken', status: 200 });
  });

  it('ends a slow answer at the timeout', async () => {
    const { url } = await server(answering('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1'));
    expect(await post(url, { timeout: 1_000 })).toMatchObject({ kind: 'broken', status: 200 });
  });

  it('writes no byte when it is no longer allowed', async () => {
    const { url, received } = await server(
      answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await post(url, { prepare: async () => false })).toMatchObject({ kind: 'unsent' });
    expect(received()).toBe('');
  });

  it('writes no byte when `prepare` fails', async () => {
    const { url, received } = await server(
      answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await post(url, { prepare: () => Promise.reject(new Error('no')) })).toMatchObject({
      kind: 'unsent',
    });
    expect(received()).toBe('');
  });

  it('prepares with the connection open and writes everything afterwards', async () => {
    let connections = 0;
    const { url, received } = await server((socket) => {
      connections += 1;
      answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')(socket);
    });
    const prepare = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect([connections, received()]).toEqual([1, '']);
      return true;
    };
    expect(await post(url, { prepare })).toMatchObject({ kind: 'answered' });
    expect(received()).toContain(`content-length: ${BODY.length}\r\n`);
    expect(received().endsWith(BODY)).toBe(true);
  });

  it('collects a body that comes in pieces', async () => {
    const { url } = await server((socket) =>
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n12');
        setTimeout(() => socket.write('34'), 20);
        setTimeout(() => socket.write('56'), 40);
      }),
    );
    const end = await post(url);
    expect(end.kind === 'answered' && end.answer.body.toString()).toBe('123456');
  });

  it('is unsent when the connection closes while it is prepared, and writes nothing on another one', async () => {
    const sockets: Socket[] = [];
    const { url, received, connections } = await server((socket) => sockets.push(socket));
    const prepare = async () => {
      const socket = await until('the server has the connection', () => sockets[0]);
      socket.end();
      // The other side has noticed it, because it has closed the connection, too.
      await once(socket, 'close');
      return true;
    };
    expect(await post(url, { prepare })).toMatchObject({ kind: 'unsent' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([connections(), received()]).toEqual([1, '']);
  });

  it.each(['503 Busy', '400 Bad Request', '201 Created', '408 Request Timeout'])(
    'is unsent when the server answers %s before the request was written',
    async (status) => {
      const { url, received } = await server((socket) =>
        socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\n{}`),
      );
      const prepare = () => new Promise<boolean>((resolve) => setTimeout(resolve, 200, true));
      expect(await post(url, { prepare })).toMatchObject({ kind: 'unsent' });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(received()).toBe('');
    },
  );

  it.each([
    ['102 with headers', 'HTTP/1.1 102 Processing\r\nx: y\r\n\r\n'],
    ['several', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'],
  ])(
    'ignores interim answers before the final one, at once and byte by byte: %s',
    async (_, interim) => {
      const final = 'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}';
      const { url } = await server((socket) => {
        let requests = 0;
        const dribble = async () => {
          for (const byte of interim + final) {
            socket.write(byte);
            await new Promise((resolve) => setImmediate(resolve));
          }
        };
        socket.on('data', (chunk) => {
          if (!chunk.toString().includes('POST')) return;
          requests += 1;
          if (requests % 2 === 1) socket.write(interim + final);
          else void dribble();
        });
      });
      const http = openHttp({ connections: 1 });
      open.push(http);
      const call = { method: 'POST', url, headers: {}, body: BODY, timeout: 5_000 } as const;
      for (let i = 0; i < 4; i += 1) {
        const end = await http.call({ ...call, prepare: async () => true });
        expect(end).toMatchObject({ kind: 'answered', answer: { status: 201 } });
        expect(end.kind === 'answered' && end.answer.body.toString()).toBe('{}');
      }
    },
  );

  it('replaces a connection that the server closed after its last answer, and writes each request once', async () => {
    let [answered, closed] = [0, 0];
    const { url, received, connections } = await server((socket) => {
      socket.once('close', () => {
        closed += 1;
      });
      socket.on('data', (chunk) => {
        if (!chunk.toString().includes('POST')) return;
        answered += 1;
        socket.write('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}');
        setTimeout(() => socket.end(), 20);
      });
    });
    const http = openHttp({ connections: 1 });
    open.push(http);
    const call = { method: 'POST', url, headers: {}, body: BODY, timeout: 5_000 } as const;
    const prepare = async () => until('the close', () => closed === answered);
    for (let i = 0; i < 10; i += 1)
      expect((await http.call({ ...call, prepare })).kind).toBe('answered');
    expect(received().match(/POST/g)?.length).toBe(10);
    expect(connections()).toBe(10);
  });

  it('keeps the headers of an informational answer apart', async () => {
    const { url } = await server((socket) =>
      socket.once('data', () =>
        socket.write(
          'HTTP/1.1 103 Early Hints\r\nretry-after: 500\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}',
        ),
      ),
    );
    const end = await post(url, { prepare: async () => true });
    expect(end).toMatchObject({ kind: 'answered', answer: { status: 201 } });
    expect(end.kind === 'answered' && end.answer.headers['retry-after']).toBeUndefined();
  });

  it('is unsent when it cannot be prepared in time', async () => {
    const { url, received } = await server(() => undefined);
    const http = openHttp({ connections: 1 });
    open.push(http);
    const call = {
      method: 'POST',
      url,
      headers: {},
      body: BODY,
      prepare: () => new Promise<boolean>(() => undefined),
    } as const;
    const ends = http.call({ ...call, timeout: -9_700 });
    expect(await ends).toMatchObject({ kind: 'unsent' });
    expect(received()).toBe('');
  });

  it('reaches several origins', async () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    const [one, two] = [await server(answering(ok)), await server(answering(ok))];
    const http = openHttp({ connections: 1 });
    open.push(http);
    const call = { method: 'POST', headers: {}, body: BODY, timeout: 1_000 } as const;
    for (const { url } of [one, two, one])
      expect(await http.call({ ...call, url })).toMatchObject({ kind: 'answered' });
    expect([one.connections(), two.connections()]).toEqual([1, 1]);
  });

  it('writes nothing later when it timed out in the queue of its connection', async () => {
    const { url, received } = await server(() => undefined);
    const http = openHttp({ connections: 1 });
    open.push(http);
    const call = { method: 'POST', url, headers: {}, body: BODY } as const;
    const first = http.call({ ...call, timeout: 900 });
    const queued = await http.call({ ...call, body: 'second', timeout: 200 });
    expect(queued).toMatchObject({ kind: 'unsent' });
    expect(await first).toMatchObject({ kind: 'broken' });
    expect(received()).not.toContain('second');
  });

  it('never follows a redirect and never sends twice', async () => {
    const elsewhere = await server(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    const { url } = await server(
      answering(
        `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${elsewhere.url.href}\r\ncontent-length: 0\r\n\r\n`,
      ),
    );
    expect(await post(url)).toMatchObject({ kind: 'answered', answer: { status: 307 } });
    expect(elsewhere.received()).toBe('');
  });
});
