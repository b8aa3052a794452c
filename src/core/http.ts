import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buildConnector, Pool } from 'undici';
import { CONNECT_TIMEOUT, Exchange, type HttpCall, type HttpEnd } from './exchange.ts';

export type { HttpAnswer, HttpCall, HttpEnd } from './exchange.ts';

export type Http = {
  call(call: HttpCall): Promise<HttpEnd>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A request that was written has ended: its status, if one was read, and milliseconds since its first byte. */
type OnEnd = (call: HttpCall, status: number | undefined, ms: number) => void;

type HttpOptions = { connections: number; connectTimeout?: number; onEnd?: OnEnd };

/**
 * Opens the connections of one environment, `connections` to each origin. HTTP/1.1, one request at a time on a connection,
 * no redirects. What was written is never repeated for an order: the delivery rules decide what happens to it. A connection
 * that the server closed before the first byte is replaced. A `URL` that is passed must not change.
 */
export function openHttp({ connections, connectTimeout = CONNECT_TIMEOUT, onEnd }: HttpOptions): Http {
  const origins = new Map<string, Origin>();
  const targets = new WeakMap<URL, Target>();

  function originOf({ origin: name }: URL): Origin {
    const origin = origins.get(name) ?? { pool: openPool(name, connections, connectTimeout), replaceable: 0 };
    origins.set(name, origin);
    return origin;
  }

  function targetOf(url: URL): Target {
    const target = targets.get(url) ?? { origin: originOf(url), path: url.pathname + url.search };
    targets.set(url, target);
    return target;
  }

  function begin(call: HttpCall, resolve: (end: HttpEnd) => void): void {
    const target = targetOf(call.url);
    const { origin } = target;
    const replace = () => {
      if (origin.replaceable === 0) return false;
      origin.replaceable -= 1;
      dispatch(target, call, exchange);
      return true;
    };
    const exchange = new Exchange(call, replace, (end, status, ms) => {
      if (end.kind === 'answered') origin.replaceable = Math.min(connections, origin.replaceable + 1);
      if (ms !== undefined) onEnd?.(call, status, ms);
      resolve(end);
    });
    dispatch(target, call, exchange);
  }

  return {
    call: (call) => new Promise((resolve) => begin(call, resolve)),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([...origins.values()].map(({ pool }) => pool.destroy()))),
  };
}

/** `replaceable`: how many lost connections may be replaced. Each answer adds one, so that a server that only closes them gets few. */
type Origin = { pool: Pool; replaceable: number };

/** Where a URL leads. */
type Target = { origin: Origin; path: string };

function dispatch({ origin: { pool }, path }: Target, call: HttpCall, exchange: Exchange): void {
  const { method, body = '', prepare } = call;
  // undici accepts any async iterable; its types name only some of them.
  const pieces = exchange as AsyncIterable<string> as Readable;
  if (prepare) pool.dispatch({ path, method, headers: withLength(call.headers, body), body: pieces }, exchange);
  else pool.dispatch({ path, method, headers: call.headers, body: call.body ?? null }, exchange);
}

/** Names and values in turn. undici would send a body of unknown length in chunks. */
function withLength(headers: Record<string, string>, body: string): string[] {
  const flat = ['content-length', String(Buffer.byteLength(body))];
  for (const name in headers) flat.push(name, headers[name] ?? '');
  return flat;
}

/** Connections to one origin: HTTP/1.1, one request at a time on each. `connectTimeout` in milliseconds. */
function openPool(origin: string, connections: number, connectTimeout: number): Pool {
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
