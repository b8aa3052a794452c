import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { created, openOddApi } from '../support/odd-api.ts';
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
});
