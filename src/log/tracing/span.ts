import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { SpanCounts } from '../tracer.ts';

/** The two identifiers of a span, in hexadecimal. */
export type SpanIds = { traceId: string; spanId: string };

type Value = string | number;

/** A span that has ended. Times are milliseconds since 1970 by the clock of this machine. */
export type EndedSpan = {
  name: string;
  /** A request to another server. */
  isRequest?: true;
  from: number;
  to: number;
  /** Its identifiers; absent: new ones, in the trace of its parent or in a new one. */
  ids?: SpanIds;
  parent?: SpanIds;
  attributes: Record<string, Value | undefined>;
  /** What went wrong, as a word of a small set. */
  error?: string | undefined;
  link?: SpanIds;
};

/** Records spans. */
export type Recorder = {
  isSampled(traceId: string): boolean;
  /** Returns the identifiers of the span. */
  record(span: EndedSpan): SpanIds;
  newSpanId(): string;
  counts(): SpanCounts;
};

/** A request as the semantic conventions of OpenTelemetry describe it. The paths of the API contain no number. */
export function requestSpan(
  method: string,
  url: URL,
  status: number | undefined,
  times: { from: number; to: number },
): EndedSpan {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const error = status === undefined || status >= 300 ? String(status ?? 'no answer') : undefined;
  return {
    name: `${method} ${url.pathname}`,
    isRequest: true,
    ...times,
    attributes: {
      'http.request.method': method,
      'url.template': url.pathname,
      'server.address': url.hostname,
      'server.port': port,
      'http.response.status_code': status,
      'error.type': error,
    },
    error,
  };
}

/** The identifiers of the root span that these names have in every process. */
export function deriveIds(...names: readonly string[]): SpanIds {
  const digest = createHash('sha256')
    .update(['po-sync', ...names].join('\n'))
    .digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** The header of W3C Trace Context, version 00. */
export function traceparentOf({ traceId, spanId }: SpanIds, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** A code as an attribute. The API chooses some of them, so any other text becomes one word. */
export function wordOf(code: string): string {
  const isKnown = /^\d+$/.test(code)
    ? STATUS_CODES[code] !== undefined
    : /^[\w.-]{1,64}$/.test(code);
  return isKnown ? code : 'other';
}
