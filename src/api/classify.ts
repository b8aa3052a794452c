import type { HttpAnswer, HttpEnd } from '../core/http.ts';
import { type Envelope, isRecord, readEnvelope } from './envelope.ts';

/** What the API said, for the ledger, the report and the log. */
export type Said = { httpStatus?: number; code: string; message: string; response?: string };

/**
 * What one POST showed. Only `accepted`, `refused` and `unknown` speak of the order;
 * the rest says nothing about it and costs it nothing.
 */
export type Seen =
  | { kind: 'accepted' }
  | { kind: 'refused'; said: Said }
  | { kind: 'unknown'; said: Said }
  /** Not one byte was written. */
  | { kind: 'unsent'; said: Said }
  /** The API is busy; `everyone` should slow down. `retryAfter` is its own wish in milliseconds. */
  | { kind: 'busy'; said: Said; everyone: boolean; retryAfter?: number }
  /** The token was not taken. */
  | { kind: 'unauthorized'; said: Said }
  /** Nothing will get through here: wrong rights, path or host. */
  | { kind: 'closed'; said: Said };

/** Statuses that are a final no when a complete error envelope comes with them. */
const FINAL_NO = new Set([409, 410, 411, 413, 414, 415, 422]);

/**
 * The outcome table, first row that fits. It goes by what was sent and what came back whole, never by error codes
 * of the network and never by message text.
 */
export function classify(end: HttpEnd, purchaseOrderNumber: string, now: Date): Seen {
  switch (end.kind) {
    case 'unsent':
      return { kind: 'unsent', said: { code: 'not-sent', message: `could not be sent: ${reasonOf(end.error)}` } };
    case 'broken':
      return { kind: 'unknown', said: brokenOff(end.error, end.status) };
    case 'answered':
      return classifyAnswer(end.answer, purchaseOrderNumber, now);
  }
}

function classifyAnswer(answer: HttpAnswer, number: string, now: Date): Seen {
  const { status } = answer;
  const envelope = readEnvelope(answer.body);
  const said = saidBy(answer, envelope);
  const whole = envelope.kind === 'error';
  if (whole && envelope.code === 400) return { kind: 'refused', said };
  if (status >= 200 && status < 300)
    return isCreated(envelope, number) ? { kind: 'accepted' } : { kind: 'unknown', said };
  if (status === 401) return { kind: 'unauthorized', said };
  if (status === 403 || status === 404 || status === 405 || (status >= 300 && status < 400))
    return { kind: 'closed', said };
  if (status === 429 || (status === 503 && whole)) return busy(answer, said, now);
  if (whole && FINAL_NO.has(status)) return { kind: 'refused', said };
  return { kind: 'unknown', said };
}

/** Success must be of this very order: an answer about another number proves nothing. */
function isCreated(envelope: Envelope, number: string): boolean {
  return envelope.kind === 'success' && isRecord(envelope.data) && envelope.data['purchaseOrderNumber'] === number;
}

function busy(answer: HttpAnswer, said: Said, now: Date): Seen {
  const retryAfter = readRetryAfter(answer.headers['retry-after'], now);
  const seen = { kind: 'busy', said, everyone: answer.status === 429 } as const;
  return retryAfter === undefined ? seen : { ...seen, retryAfter };
}

/** Milliseconds from a Retry-After header, seconds or date (RFC 9110 10.2.3), at most an hour; undefined when unreadable. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const most = 3_600_000;
  if (/^\d{1,9}$/.test(header.trim())) return Math.min(Number(header.trim()) * 1000, most);
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now.getTime(), 0), most);
}

function saidBy(answer: HttpAnswer, envelope: Envelope): Said {
  const response = answer.body.toString('utf8').slice(0, 2000);
  const code = envelope.kind === 'error' ? String(envelope.code) : `http-${answer.status}`;
  const message = envelope.kind === 'error' ? envelope.message : sayStatus(answer.status);
  return { httpStatus: answer.status, code, message: message.slice(0, 1000), response };
}

function sayStatus(status: number): string {
  return `the API answered HTTP ${status} without the envelope that belongs to it`;
}

function brokenOff(error: Error, status: number | undefined): Said {
  const message = `no complete answer: ${reasonOf(error)}`;
  return status === undefined ? { code: 'no-answer', message } : { code: 'no-answer', message, httpStatus: status };
}

/** The words of a network error; nested ones (several addresses tried) by their first. */
export function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error.message || error.name;
}
