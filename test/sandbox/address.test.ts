import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openAddress } from '../../src/sandbox/address.ts';
import { type Body, readBody } from '../../src/sandbox/request.ts';
import { goodOrder, openSandbox, rawCreate } from '../support/open-sandbox.ts';
import { until } from '../support/until.ts';

/** How long a request may take here, in milliseconds. */
const PATIENCE = 300;

/** An address that answers 201 to every request with a complete body, and records the requests. */
async function openHere(stack: AsyncDisposableStack, answerAtOnce = false) {
  const taken: Body[] = [];
  const take: RequestListener = (request, response) => {
    if (answerAtOnce) response.writeHead(401).end('no');
    void readBody(request, 1_000).then((body) => {
      taken.push(body);
      if (body !== 'gone' && !answerAtOnce) response.writeHead(201).end('made');
    });
  };
  const { url } = stack.use(await openAddress('127.0.0.1', 0, take, PATIENCE));
  return { taken, url };
}

function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port) });
}

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n';

test('a request that does not arrive in time gets 408, and its later bytes are ignored', async () => {
  await using stack = new AsyncDisposableStack();
  const { url, taken } = await openHere(stack);
  const socket = dial(url);
  const answer = text(socket);
  socket.write(`${HEAD}12345`);
  await once(socket, 'end');
  socket.write('67890');
  expect(await answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":408/);
  await until('the connection is cut', () => taken.length > 0);
  expect(taken).toEqual(['gone']);
});

test('a request that was answered before it was complete gets no second answer and is closed if it does not end', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = await openHere(stack, true);
  const socket = dial(url);
  socket.on('error', () => undefined);
  let answer = '';
  socket.setEncoding('latin1').on('data', (some: string) => {
    answer += some;
  });
  socket.write(`${HEAD}1`);
  await once(socket, 'close');
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});

test('invalid HTTP after a complete request does not suppress the answer to that request', async () => {
  await using sandbox = await openSandbox();
  const token = await sandbox.token();
  const socket = dial(sandbox.baseUrl);
  socket.write(`${rawCreate(goodOrder('PO-1'), token)}garbage garbage\r\n\r\n`);
  const answers = await text(socket);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 400']);
  expect(await sandbox.orders(token)).toHaveLength(1);
});

test('a client that half-closes its connection still gets the answer', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = await openHere(stack);
  const socket = dial(url);
  socket.end(`${HEAD}1234567890`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 /);
});

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
