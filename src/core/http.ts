import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
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

/**
 * Opens the connections of one environment. HTTP/1.1, one request at a time on a connection, no redirects,
 * no retries: the delivery rules decide what happens to an order.
 */
export function openHttp({
  connections,
  connectTimeout = CONNECT_TIMEOUT,
}: {
  connections: number;
  connectTimeout?: number;
}): Http {
  const agent = new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    // Shorter than servers keep it: a connection that closes during a write puts an order in doubt.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: 32 * 1024,
    connect: { timeout: connectTimeout, rejectUnauthorized: true },
  });
  return {
    call: (call) => dispatch(agent, call),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

function dispatch(agent: Agent, call: HttpCall): Promise<HttpEnd> {
  return new Promise((resolve) => {
    const exchange = new Exchange(call, resolve);
    agent.dispatch(
      {
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: call.method,
        headers: call.prepare ? withLength(call) : call.headers,
        body: call.prepare ? asBody(exchange.preparedBody(call.prepare)) : (call.body ?? null),
        // Its own limits would count what `prepare` takes.
        headersTimeout: call.timeout + CONNECT_TIMEOUT,
        bodyTimeout: call.timeout + CONNECT_TIMEOUT,
      },
      exchange,
    );
  });
}

/** undici accepts any async iterable; its types name only some of them. */
function asBody(pieces: AsyncIterable<string>): Readable {
  return pieces as Readable;
}

/** undici would send a body of unknown length in chunks. */
function withLength({ headers, body = '' }: HttpCall): Record<string, string> {
  return { ...headers, 'content-length': String(Buffer.byteLength(body)) };
}

/** Watches one request from the queue of its connection to its end. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: HttpCall;
  readonly #resolve: (end: HttpEnd) => void;
  #timer: NodeJS.Timeout;
  readonly #idleTimer: NodeJS.Timeout | undefined;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #written = false;
  #ended = false;
  #status: number | undefined;
  #headers: Record<string, string> = {};
  #bytes = 0;

  constructor(call: HttpCall, resolve: (end: HttpEnd) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#timer = this.#deadline(call.prepare ? CONNECT_TIMEOUT : 0);
    if (call.idleTimeout !== undefined) {
      this.#idleTimer = setTimeout(() => this.#giveUp(silent(call)), call.idleTimeout);
    }
  }

  #deadline(extra = 0): NodeJS.Timeout {
    return setTimeout(() => this.#giveUp(timedOut(this.#call)), this.#call.timeout + extra);
  }

  /** Called by undici with the connection open, directly before it writes or asks for the body. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('ended before it was written'));
    else if (!this.#call.prepare) this.#written = true;
  }

  /** undici writes nothing, not even the request line, before it has the first piece of a streamed body. */
  async *preparedBody(prepare: () => Promise<boolean>): AsyncGenerator<string> {
    if (!(await prepare())) throw new Error('no longer to be sent when it could be written');
    if (this.#ended) throw new Error('ended before it was written');
    this.#written = true;
    clearTimeout(this.#timer);
    this.#timer = this.#deadline();
    yield this.#call.body ?? '';
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    this.#idleTimer?.refresh();
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
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
    if (this.#bytes <= (this.#call.maxBytes ?? MAX_BYTES)) this.#chunks.push(chunk);
    else controller.abort(new Error('the answer is too large'));
  }

  onResponseEnd(): void {
    const answer = { status: this.#status ?? 0, headers: this.#headers, body: Buffer.concat(this.#chunks) };
    this.#end({ kind: 'answered', answer });
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end(this.#failure(error));
  }

  #giveUp(error: Error): void {
    const end = this.#failure(error);
    this.#end(end);
    this.#controller?.abort(error);
  }

  #failure(error: Error): HttpEnd {
    if (!this.#written) return { kind: 'unsent', error };
    return this.#status === undefined ? { kind: 'broken', error } : { kind: 'broken', error, status: this.#status };
  }

  #end(end: HttpEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#resolve(end);
  }
}

function timedOut(call: HttpCall): PoSyncError {
  return new PoSyncError('timeout', `no complete answer within ${call.timeout / 1000} s`);
}

function silent({ idleTimeout = 0 }: HttpCall): PoSyncError {
  return new PoSyncError('timeout', `nothing came for ${idleTimeout / 1000} s`);
}
