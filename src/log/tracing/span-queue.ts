import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { growingWait } from '../../core/backoff/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, toError } from '../../core/errors.ts';
import type { SpanCounts } from '../tracer.ts';
import type { TracingSettings } from './settings.ts';

/** Turns spans into a request of OTLP. */
type Serializer = typeof JsonTraceSerializer;

type SpanQueueDeps = {
  settings: TracingSettings;
  serializer: Serializer;
  clock: Clock;
  userAgent: string;
  /** The collector did not take spans. */
  onTrouble: (reason: string) => void;
};

/** Requests for the same spans, and the waits between them in milliseconds, also those that the collector asks for. */
const TRIES = 5;
const RETRY = { initial: 1_000, max: 30_000 };
/** Milliseconds that the last spans have when the process stops. */
const LAST = 2_000;
/** Bytes of an answer that are read. */
const LARGEST_ANSWER = 65_536;

/** What the collector made of a request. `after`: milliseconds until it may be sent again. */
type Sent =
  | { kind: 'taken'; rejected: number }
  | { kind: 'failed'; reason: string; after?: number; again: boolean };

/**
 * Sends spans in batches, one request at a time. The SDK's own processor and exporter are not used: they keep a process
 * that stops alive until a collector that hangs has answered, and do not count what they drop.
 */
export class SpanQueue implements SpanProcessor {
  readonly #deps: SpanQueueDeps;
  readonly #send: (body: Uint8Array, signal: AbortSignal) => Promise<Sent>;
  /** Ends the wait before another try; then the request itself. */
  readonly #closing = new AbortController();
  readonly #stop = new AbortController();
  readonly #counts: SpanCounts = { exported: 0, failed: 0, dropped: 0 };
  #waiting: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: SpanQueueDeps) {
    this.#deps = deps;
    this.#send = createSender(deps);
  }

  counts(): SpanCounts {
    return { ...this.#counts };
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const { delay, size, batch } = this.#deps.settings.queue;
    if (this.#closing.signal.aborted || this.#waiting.length >= size) {
      this.#counts.dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= batch) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), delay).unref();
  }

  async forceFlush(): Promise<void> {
    this.#begin();
    await this.#sending;
  }

  /** Sends what waits, for a short time. What is left then is dropped. */
  async shutdown(): Promise<void> {
    this.#closing.abort();
    const timer = setTimeout(() => this.#stop.abort(), LAST);
    await this.forceFlush();
    clearTimeout(timer);
    this.#counts.dropped += this.#waiting.splice(0).length;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const spans = this.#waiting.splice(0, this.#deps.settings.queue.batch);
      try {
        await this.#sendBatch(spans);
      } catch (error) {
        this.#counts.failed += spans.length;
        this.#deps.onTrouble(toError(error).message);
      }
    }
  }

  async #sendBatch(spans: ReadableSpan[]): Promise<void> {
    const { serializer, onTrouble, clock } = this.#deps;
    const body = serializer.serializeRequest(spans) ?? new Uint8Array();
    for (let tries = 1; ; tries += 1) {
      const sent = await this.#send(body, this.#stop.signal);
      if (sent.kind === 'taken') {
        this.#counts.exported += spans.length - sent.rejected;
        this.#counts.failed += sent.rejected;
        if (sent.rejected > 0) onTrouble('the collector rejected spans');
        return;
      }
      onTrouble(sent.reason);
      const isClosing = this.#closing.signal.aborted;
      if (!sent.again || tries === TRIES || isClosing) break;
      const wait = Math.max(growingWait(tries, RETRY), Math.min(sent.after ?? 0, RETRY.max));
      await clock.sleep(wait, this.#closing.signal);
    }
    this.#counts.failed += spans.length;
  }
}

/** Sends a request to the collector. Never rejects: the result contains the error. */
function createSender({ settings, serializer, userAgent }: SpanQueueDeps) {
  const { url, headers, format, timeout } = settings;
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new TlsAgent() : new PlainAgent();
  const head = {
    ...headers,
    'content-type': format === 'json' ? 'application/json' : 'application/x-protobuf',
    'user-agent': userAgent,
    ...(settings.gzip && { 'content-encoding': 'gzip' }),
  };

  function begin(length: number, signal: AbortSignal): ClientRequest {
    const options = {
      method: 'POST',
      agent,
      signal,
      headers: { ...head, 'content-length': length },
    };
    return isSecure
      ? requestTls(url, { ...options, ...settings.tls?.options() })
      : requestPlain(url, options);
  }

  async function call(body: Uint8Array, signal: AbortSignal): Promise<Sent> {
    const sent = settings.gzip ? await promisify(gzip)(body) : body;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      begin(sent.length, signal).on('response', resolve).on('error', reject).end(sent);
    });
    // An answer that is cut off after the request was done ends here too.
    const content = await read(answer);
    return judge(answer, content, serializer);
  }

  return async (body: Uint8Array, stop: AbortSignal): Promise<Sent> => {
    const late = AbortSignal.timeout(timeout);
    try {
      return await call(body, AbortSignal.any([stop, late]));
    } catch (error) {
      const reason = late.aborted
        ? `no answer within ${timeout} ms`
        : (codeOf(error) ?? toError(error).name);
      return {
        kind: 'failed',
        reason: `the collector was not reached: ${reason}`,
        again: !stop.aborted,
      };
    }
  };
}

async function read(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > LARGEST_ANSWER) return Buffer.alloc(0);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Statuses after which OTLP sends the same request again. */
const AGAIN = [429, 502, 503, 504];

function judge(
  { statusCode = 0, headers }: IncomingMessage,
  content: Buffer,
  serializer: Serializer,
): Sent {
  if (statusCode >= 200 && statusCode < 300)
    return { kind: 'taken', rejected: rejectedIn(content, serializer) };
  const seconds = Number(headers['retry-after']);
  const after = Number.isFinite(seconds) ? { after: seconds * 1_000 } : {};
  const again = AGAIN.includes(statusCode);
  return {
    kind: 'failed',
    reason: `the collector answered with status ${statusCode}`,
    again,
    ...after,
  };
}

function rejectedIn(content: Buffer, serializer: Serializer): number {
  if (content.length === 0) return 0;
  try {
    const rejected = Number(
      serializer.deserializeResponse(content).partialSuccess?.rejectedSpans ?? 0,
    );
    return rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}
