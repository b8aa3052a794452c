import type { Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';

/** Connections to one origin: HTTP/1.1, one request at a time on each. `connectTimeout` in milliseconds. */
export function openPool(origin: string, connections: number, connectTimeout: number): Pool {
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
    connect: createConnector(connectTimeout),
  });
}

function createConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, rejectUnauthorized: true, allowH2: false });
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      // Absent after an error, whatever the types say.
      if (socket) dropInterimAnswers(socket);
      callback(...result);
    });
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
  return bytes[STATUS_AT] === 0x31 && bytes.length > STATUS_AT + 2 && bytes.toString('latin1', STATUS_AT, 12) !== '101';
}

/** More bytes are needed to tell, or to find the end of an interim answer. */
function mayBecomeInterim(bytes: Buffer): boolean {
  if (bytes.length <= STATUS_AT) return true;
  return bytes[STATUS_AT] === 0x31 && bytes.length < LONGEST_HEAD && (bytes.length < 12 || isInterim(bytes));
}
