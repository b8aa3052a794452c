import { Agent, type Dispatcher } from 'undici';
import { PoSyncError } from './errors.ts';

/** One request. `headers` are sent as they are, and nothing else but what HTTP/1.1 needs. */
export type HttpCall = {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds for everything, from now to the last byte of the answer. */
  timeout: number;
  /** Milliseconds without a byte of the answer after which the call is given up. */
  idleTimeout?: number;
  /** Asked directly before the first byte is written; false leaves it unwritten. */
  mayWrite?: () => boolean;
  /** Takes the body's pieces as they come, instead of `HttpAnswer.body`. Throwing ends the call. */
  onData?: (chunk: Buffer) => void;
  /** Most bytes of a collected body. */
  maxBytes?: number;
};

export type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer };

/**
 * How a call ended. `unsent`: certainly not one byte was written. `broken`: it was, and no complete answer came;
 * `status` is what was read of it. Never decided by error codes: the same ECONNRESET comes before and after.
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

/**
 * Opens the connections of one environment. HTTP/1.1, one request at a time on a connection, no redirects,
 * no retries of its own: what happens to an order is decided elsewhere.
 */
export function openHttp({
  connections,
  connectTimeout = 10_000,
}: {
  connections: number;
  connectTimeout?: number;
}): Http {
  const agent = new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    // Shorter than servers keep it: a connection closed under our hands is an order in doubt.
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
        headers: call.headers,
        body: call.body ?? null,
        headersTimeout: call.timeout,
        bodyTimeout: call.timeout,
      },
      exchange,
    );
  });
}

/** Watches one request from the queue of its connection to its end. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: HttpCall;
  readonly #resolve: (end: HttpEnd) => void;
  readonly #timer: NodeJS.Timeout;
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
    this.#timer = setTimeout(() => this.#giveUp(timedOut(call)), call.timeout);
    if (call.idleTimeout !== undefined) {
      this.#idleTimer = setTimeout(() => this.#giveUp(silent(call)), call.idleTimeout);
    }
  }

  /** Called by undici with the connection in hand, directly before it writes. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) {
      controller.abort(new Error('ended before it was written'));
    } else if (this.#call.mayWrite?.() === false) {
      controller.abort(new Error('no longer fresh when it could be written'));
    } else {
      this.#written = true;
      this.#controller = controller;
    }
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
    // An error answer is collected: it is not the stream that the caller waits for.
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
