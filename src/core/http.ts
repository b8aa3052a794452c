import type { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { PoSyncError } from './errors.ts';

/** One request. Sends `headers` unchanged and adds only what HTTP/1.1 requires. */
export type HttpCall = {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds from now to the last byte of the answer. */
  timeout: number;
  /** Milliseconds without a byte of the answer after which the call fails. */
  idleTimeout?: number;
  /**
   * Called once with the connection open, before the first byte; false or a rejection leaves it unwritten. `timeout`
   * starts again with the first byte, so it may be slow.
   */
  prepare?: () => Promise<boolean>;
  /** Receives the body in pieces, instead of `HttpAnswer.body`. Throwing ends the call. */
  onData?: (chunk: Buffer) => void;
  /** Maximum bytes of a collected body. */
  maxBytes?: number;
};

export type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer };

/**
 * How a call ended. `unsent`: not one byte was written. `broken`: bytes were written and no complete answer came; `status`
 * is set if it was read. Error codes do not decide this, because ECONNRESET comes before and after the first byte.
 */
export type HttpEnd =
  | { kind: 'answered'; answer: HttpAnswer }
  | { kind: 'unsent'; error: Error }
  | { kind: 'broken'; error: Error; status?: number };

export type Http = {
  call(call: HttpCall): Promise<HttpEnd>;
  [Symbol.asyncDispose](): Promise<void>;
};

const MAX_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT = 10_000;
const EMPTY = Buffer.alloc(0);

/** A request that was written has ended: its status, if one was read, and milliseconds since its first byte. */
type OnEnd = (call: HttpCall, status: number | undefined, ms: number) => void;

type HttpOptions = { connections: number; connectTimeout?: number; onEnd?: OnEnd };

/**
 * Opens the connections of one environment, `connections` to each origin. HTTP/1.1, one request at a time on a connection,
 * no redirects, no retries: the delivery rules decide what happens to an order. A `URL` that is passed must not change.
 */
export function openHttp({ connections, connectTimeout = CONNECT_TIMEOUT, onEnd }: HttpOptions): Http {
  const pools = new Map<string, Pool>();
  const targets = new WeakMap<URL, Target>();

  function poolOf(origin: string): Pool {
    const pool = pools.get(origin) ?? openPool(origin, connections, connectTimeout);
    pools.set(origin, pool);
    return pool;
  }

  function targetOf(url: URL): Target {
    const target = targets.get(url) ?? { pool: poolOf(url.origin), path: url.pathname + url.search };
    targets.set(url, target);
    return target;
  }

  return {
    call: (call) => new Promise((resolve) => dispatch(targetOf(call.url), call, new Exchange(call, resolve, onEnd))),
    [Symbol.asyncDispose]: async () => void (await Promise.all([...pools.values()].map((pool) => pool.destroy()))),
  };
}

/** Where a URL leads. */
type Target = { pool: Pool; path: string };

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
    connect: { timeout: connectTimeout, rejectUnauthorized: true },
  });
}

function dispatch({ pool, path }: Target, call: HttpCall, exchange: Exchange): void {
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

const END = Promise.resolve({ done: true, value: undefined } as const);

/** Watches one request from the queue of its connection to its end; with `prepare` it is its body as well. */
class Exchange implements Dispatcher.DispatchHandler, AsyncIterable<string> {
  readonly #call: HttpCall;
  readonly #resolve: (end: HttpEnd) => void;
  readonly #onEnd: OnEnd | undefined;
  #timer: NodeJS.Timeout;
  readonly #idleTimer: NodeJS.Timeout | undefined;
  #body: Buffer = EMPTY;
  /** Pieces of a body that came in several. */
  #pieces: Buffer[] | undefined;
  #bytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #asked = false;
  #writtenAt: number | undefined;
  #ended = false;
  #status: number | undefined;
  #headers: Record<string, string> = {};

  constructor(call: HttpCall, resolve: (end: HttpEnd) => void, onEnd: OnEnd | undefined) {
    this.#call = call;
    this.#resolve = resolve;
    this.#onEnd = onEnd;
    this.#timer = this.#deadline(call.prepare ? CONNECT_TIMEOUT : 0);
    const { idleTimeout } = call;
    if (idleTimeout === undefined) return;
    this.#idleTimer = setTimeout(() => this.#giveUp(timedOut('nothing came for', idleTimeout)), idleTimeout);
  }

  #deadline(extra = 0): NodeJS.Timeout {
    return setTimeout(giveUpLate, this.#call.timeout + extra, this);
  }

  /** Called by undici with the connection open, directly before it writes or asks for the body. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('ended before it was written'));
    else if (!this.#call.prepare) this.#writtenAt = performance.now();
  }

  /** undici writes nothing, not even the request line, before it has the first piece of a streamed body. */
  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this;
  }

  next(): Promise<IteratorResult<string>> {
    const { prepare } = this.#call;
    if (this.#asked || !prepare) return END;
    this.#asked = true;
    return this.#onlyPiece(prepare);
  }

  async #onlyPiece(prepare: () => Promise<boolean>): Promise<IteratorResult<string>> {
    if (!(await prepare())) throw new Error('no longer to be sent when it could be written');
    if (this.#ended) throw new Error('ended before it was written');
    this.#writtenAt = performance.now();
    clearTimeout(this.#timer);
    this.#timer = this.#deadline();
    return { done: false, value: this.#call.body ?? '' };
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A server that is full answers at once. Such an answer says nothing about the request.
    if (this.#writtenAt === undefined) {
      controller.abort(new Error('answered before the request was written'));
      return;
    }
    this.#idleTimer?.refresh();
    this.#status = status;
    // Informational answers that came before are not part of this one.
    this.#headers = {};
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) this.#headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#idleTimer?.refresh();
    // Collect an error answer; it is not the stream that the caller expects.
    if (this.#call.onData && this.#status === 200) {
      this.#call.onData(chunk);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#call.maxBytes ?? MAX_BYTES)) controller.abort(new Error('the answer is too large'));
    else if (this.#bytes === chunk.length) this.#body = chunk;
    else {
      this.#pieces ??= [this.#body];
      this.#pieces.push(chunk);
    }
  }

  onResponseEnd(): void {
    const body = this.#pieces ? Buffer.concat(this.#pieces) : this.#body;
    this.#end({ kind: 'answered', answer: { status: this.#status ?? 0, headers: this.#headers, body } });
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end(this.#failure(error));
  }

  timeOut(): void {
    this.#giveUp(timedOut('no complete answer within', this.#call.timeout));
  }

  #giveUp(error: Error): void {
    const end = this.#failure(error);
    this.#end(end);
    this.#controller?.abort(error);
  }

  #failure(error: Error): HttpEnd {
    if (this.#writtenAt === undefined) return { kind: 'unsent', error };
    return this.#status === undefined ? { kind: 'broken', error } : { kind: 'broken', error, status: this.#status };
  }

  #end(end: HttpEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    if (this.#writtenAt !== undefined) this.#onEnd?.(this.#call, this.#status, performance.now() - this.#writtenAt);
    this.#resolve(end);
  }
}

/** One for all timers. */
function giveUpLate(exchange: Exchange): void {
  exchange.timeOut();
}

function timedOut(what: string, ms: number): PoSyncError {
  return new PoSyncError('timeout', `${what} ${ms / 1000} s`);
}
