import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { created, openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

const text = (number: string) => JSON.stringify(created(number));

/** Answers of a server that stored the order, written byte by byte as given. */
const RAW: [string, (socket: Socket, number: string) => void][] = [
  [
    'HTTP/1.0 without a length',
    (socket, number) => socket.end(`HTTP/1.0 201 Created\r\n\r\n${text(number)}`),
  ],
  ['cut in the head', (socket) => socket.end('HTTP/1.1 201 Crea')],
  [
    'cut in the body',
    (socket, number) =>
      socket.end(`HTTP/1.1 201 Created\r\ncontent-length: 500\r\n\r\n${text(number).slice(0, 20)}`),
  ],
  [
    'with a broken chunk',
    (socket) =>
      socket.end('HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n'),
  ],
  [
    'without the last chunk',
    (socket, number) =>
      socket.end(
        `HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n${text(number).length.toString(16)}\r\n${text(number)}\r\n`,
      ),
  ],
  ['that is no HTTP', (socket) => socket.end('+OK\r\n')],
  ['with a slow, endless body', (socket) => void drip(socket)],
];

async function drip(socket: Socket): Promise<void> {
  socket
    .on('error', () => undefined)
    .write('HTTP/1.1 201 Created\r\ncontent-length: 100000\r\n\r\n');
  const timer = setInterval(() => socket.write(' '), 100);
  socket.once('close', () => clearInterval(timer));
}

describe.concurrent('an API behind odd servers', () => {
  it(`whose answers cannot be read (${RAW.map(([what]) => what).join(', ')}) creates each order once`, async () => {
    await using api = await openOddApi(({ endpoint, attempt, order }) => {
      const number = order?.purchaseOrderNumber ?? '';
      const [, raw] = RAW[Number(number.slice(3)) % RAW.length] ?? [];
      return endpoint === 'create' && attempt === 1 && raw
        ? { store: true, raw: (socket) => raw(socket, number) }
        : undefined;
    });
    await using place = await openTroublePlace(api);
    const numbers = numbered(2 * RAW.length);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
    expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
  });

  it.each([407, 520])('that answer HTTP %d for a while loses and repeats none', async (status) => {
    let calls = 0;
    await using api = await openOddApi(({ endpoint }) => {
      if (endpoint !== 'create') return undefined;
      calls += 1;
      return calls <= 8 ? { status, body: '<html>gateway</html>' } : undefined;
    });
    await using place = await openTroublePlace(api);
    const numbers = numbered(6);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
    expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
  });
});

describe.concurrent('an API that cannot be reached', () => {
  it('because its name is unknown: orders wait, and status says why', async () => {
    await using api = await openOddApi();
    const baseUrl = 'https://no-such-host.invalid/api/v1';
    await using place = await openTroublePlace(api, { baseUrl });
    await place.drop('orders.csv', csv(numbered(5)));
    await until('the reason', async () =>
      (await place.status()).waits.some(({ reason }) =>
        /ENOTFOUND|EAI_AGAIN|no-such-host/.test(reason),
      ),
    );
  });

  it('because its TLS handshake stalls: orders wait, and status says why', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await using api = await openOddApi();
    const baseUrl = `https://127.0.0.1:${port}/api/v1`;
    {
      await using place = await openTroublePlace(api, {
        baseUrl,
      });
      await place.drop('orders.csv', csv(numbered(5)));
      await until('the reason', async () =>
        (await place.status()).waits.some(({ reason }) => /timeout/i.test(reason)),
      );
      expect(sockets.length).toBeLessThanOrEqual(10);
    }
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
