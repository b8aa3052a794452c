import type { Dispatcher } from 'undici';
import { PoSyncError } from './errors.ts';
import { explainConnection, isCertificateAlert } from './network-error.ts';

/** One request. Sends `headers` unchanged and adds only what HTTP/1.1 requires, and `User-Agent`. */
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
   * Called with the connection open, before the first byte; false or a rejection leaves it unwritten. Called again when
   * that connection was closed before the first byte. `timeout` starts again with the first byte, so it may be slow.
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
 * is set if it was read. Error codes do not decide this, because ECONNRESET comes before and after the first byte. One
 * exception: a server that refused the client certificate has read nothing (`isCertificateAlert`).
 */
export type HttpEnd =
  | { kind: 'answered'; answer: HttpAnswer }
  | { kind: 'unsent'; error: Error }
  | { kind: 'broken'; error: Error; status?: number };

/** `ms` is absent when no byte was written. */
export type OnExchangeEnd = (
  end: HttpEnd,
  status: number | undefined,
  ms: number | undefined,
) => void;

const MAX_BYTES = 1024 * 1024;
export const CONNECT_TIMEOUT = 10_000;
/** Connections that one call tries, when the server closes them before the first byte. */
const MOST_CONNECTIONS = 3;
const EMPTY = Buffer.alloc(0);

const END = Promise.resolve({ done: true, value: undefined } as const);

/** Watches one request from the queue of its connection to its end; with `prepare` it is its body as well. */
export class Exchange implements Dispatcher.DispatchHandler, AsyncIterable<string> {
  readonly #call: HttpCall;
  readonly #replace: () => boolean;
  readonly #onEnd: OnExchangeEnd;
  #timer: NodeJS.Timeout;
  readonly #idleTimer: NodeJS.Timeout | undefined;
  #body: Buffer = EMPTY;
  /** Pieces of a body that came in several. */
  #pieces: Buffer[] | undefined;
  #bytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  /** The piece of the body that undici waits for, one for each connection. */
  #piece: Promise<IteratorResult<string>> | undefined;
  #isDeclined = false;
  #connections = 1;
  #writtenAt: number | undefined;
  #ended = false;
  #status: number | undefined;
  #headers: Record<string, string> = {};

  constructor(call: HttpCall, replace: () => boolean, onEnd: OnExchangeEnd) {
    this.#call = call;
    this.#replace = replace;
    this.#onEnd = onEnd;
    this.#timer = this.#deadline(call.prepare ? CONNECT_TIMEOUT : 0);
    const { idleTimeout } = call;
    if (idleTimeout === undefined) return;
    this.#idleTimer = setTimeout(
      () => this.#giveUp(new PoSyncError('no-data', `no data for ${idleTimeout / 1000} s`)),
      idleTimeout,
    );
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
    if (this.#piece || !prepare) return END;
    this.#piece = this.#onlyPiece(prepare, this.#connections);
    return this.#piece;
  }

  async #onlyPiece(
    prepare: () => Promise<boolean>,
    connection: number,
  ): Promise<IteratorResult<string>> {
    const isWanted = await prepare().catch((error: unknown) => {
      this.#isDeclined = true;
      throw error;
    });
    if (connection !== this.#connections) throw new Error('the connection was lost');
    this.#isDeclined = !isWanted;
    if (!isWanted) throw new Error('the request was withdrawn before it was written');
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
      this.#isDeclined = true;
      controller.abort(new Error('answered before the request was written'));
      return;
    }
    this.#idleTimer?.refresh();
    this.#status = status;
    // Informational answers that came before are not part of this one.
    this.#headers = {};
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined)
        this.#headers[name] = Array.isArray(value) ? value.join(', ') : value;
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
    if (this.#bytes > (this.#call.maxBytes ?? MAX_BYTES))
      controller.abort(new Error('the answer is too large'));
    else if (this.#bytes === chunk.length) this.#body = chunk;
    else {
      this.#pieces ??= [this.#body];
      this.#pieces.push(chunk);
    }
  }

  onResponseEnd(): void {
    const body = this.#pieces ? Buffer.concat(this.#pieces) : this.#body;
    this.#end({
      kind: 'answered',
      answer: { status: this.#status ?? 0, headers: this.#headers, body },
    });
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (!this.#isReplaced()) this.#end(this.#failure(error));
  }

  /**
   * Continues on a new connection when the server closed this one before the first byte. A token and the list do no harm
   * when they are requested twice, so for them a connection without an answer is replaced too, once.
   */
  #isReplaced(): boolean {
    const { prepare } = this.#call;
    const isLost = prepare ? this.#writtenAt === undefined : this.#status === undefined;
    if (!isLost || this.#ended || this.#isDeclined || this.#controller === undefined) return false;
    if (this.#connections >= (prepare ? MOST_CONNECTIONS : 2)) return false;
    const writtenAt = this.#writtenAt;
    this.#connections += 1;
    this.#piece = undefined;
    this.#controller = undefined;
    this.#writtenAt = undefined;
    if (this.#replace()) return true;
    this.#writtenAt = writtenAt;
    return false;
  }

  timeOut(): void {
    this.#giveUp(
      new PoSyncError('no-answer', `no complete answer within ${this.#call.timeout / 1000} s`),
    );
  }

  #giveUp(error: Error): void {
    const end = this.#failure(error);
    this.#end(end);
    this.#controller?.abort(error);
  }

  #failure(error: Error): HttpEnd {
    if (this.#writtenAt === undefined) return { kind: 'unsent', error };
    if (this.#status === undefined && isCertificateAlert(error)) {
      return { kind: 'unsent', error: explainConnection(error, this.#call.url.host) };
    }
    return this.#status === undefined
      ? { kind: 'broken', error }
      : { kind: 'broken', error, status: this.#status };
  }

  #end(end: HttpEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#onEnd(
      end,
      this.#status,
      this.#writtenAt === undefined ? undefined : performance.now() - this.#writtenAt,
    );
  }
}

/** One for all timers. */
function giveUpLate(exchange: Exchange): void {
  exchange.timeOut();
}
