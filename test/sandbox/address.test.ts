import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openAddress } from '../../src/sandbox/address.ts';
import { until } from '../support/until.ts';

function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port) });
}

test('while closing, each connection ends with its next answer', async () => {
  const calls: string[] = [];
  const address = await openAddress('127.0.0.1', 0, (request, response) => {
    calls.push(request.url ?? '');
    setTimeout(() => response.end('done'), 50);
  });
  const socket = dial(address.url);
  const answers: string[] = [];
  socket.setEncoding('latin1').on('data', (some: string) => answers.push(some));
  socket.write('GET /1 HTTP/1.1\r\nhost: x\r\n\r\n');
  await until('the first call', () => calls.length === 1);
  const closed = address[Symbol.asyncDispose]();
  await until('the first answer', () => answers.length === 1);
  socket.write('GET /2 HTTP/1.1\r\nhost: x\r\n\r\n');
  await Promise.all([closed, once(socket, 'close')]);
  expect(answers).toHaveLength(2);
  expect(answers[1]).toMatch(/\r\nconnection: close\r\n/i);
});
