import type { Environment } from '../config/config.ts';
import { codeOf, reasonOf } from '../core/errors.ts';
import { clauses, withoutStop } from '../core/format.ts';
import type { HttpAnswer, HttpEnd } from '../core/http.ts';
import { isNetworkCode } from '../core/network-error.ts';
import { onOneLine } from '../order/text.ts';

/** The API's answer, for the ledger, the report and the log. */
export type Said = { httpStatus?: number; code: string; message: string; response?: string };

/**
 * What one POST showed. Only `accepted`, `misnamed`, `refused` and `unknown` say something about the order;
 * the others cost it nothing.
 */
export type Seen =
  | { kind: 'accepted' }
  /** A complete success answer that names another number: an order was created, and it is final. */
  | { kind: 'misnamed'; said: Said }
  | { kind: 'refused'; said: Said }
  | { kind: 'unknown'; said: Said }
  /** No byte was written. */
  | { kind: 'unsent'; said: Said }
  /**
   * The API takes it later; `everyone`: no order is sent. `retryAfter` is the requested wait in milliseconds, above 0.
   * `counts`: it concerns this order, which waits longer each time and fails in the end.
   */
  | { kind: 'busy'; said: Said; everyone: boolean; retryAfter?: number; counts?: true }
  /** The token was not accepted. */
  | { kind: 'unauthorized'; said: Said }
  /** Rejected for a reason that says nothing about the order: permissions, path, host, a firewall. */
  | { kind: 'closed'; said: Said };

export type Busy = Extract<Seen, { kind: 'busy' }>;

/** Statuses that are a final refusal if they have a complete error envelope. */
const FINAL_NO = new Set([400, 409, 410, 411, 413, 414, 415, 422]);

/** How the answers of an API are read. */
export type Reading = {
  /** What statuses with a complete error envelope mean at this API, before every other rule. */
  statuses?: Environment['statuses'];
  /** Removes secrets from what is reported of an answer. What the answer means never depends on it. */
  hide?: (text: string) => string;
};

/**
 * The outcome table, first row that fits (docs/guarantees.md). It decides by what was sent and what came back complete,
 * never by error codes of the network and never by message text.
 */
export function classify(
  end: HttpEnd,
  purchaseOrderNumber: string,
  now: Date,
  reading: Reading = {},
): Seen {
  switch (end.kind) {
    case 'unsent':
      return { kind: 'unsent', said: notSent(end.error) };
    case 'broken':
      return { kind: 'unknown', said: brokenOff(end.error, end.status) };
    case 'answered':
      return classifyAnswer(end.answer, purchaseOrderNumber, now, reading);
  }
}

function classifyAnswer(answer: HttpAnswer, number: string, now: Date, reading: Reading): Seen {
  const { statuses, hide = (text) => text } = reading;
  const { status } = answer;
  const envelope = readEnvelope(answer.body);
  const isError = envelope.kind === 'error';
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && namedIn(envelope) === number) return { kind: 'accepted' };
  const said = saidBy(answer, envelope, hide);
  if (isError && statuses?.refuse.includes(status)) return { kind: 'refused', said };
  if (isError && statuses?.retry.includes(status))
    return { ...busy(answer, said, now), everyone: false, counts: true };
  if (isError && envelope.code === 400) return { kind: 'refused', said };
  if (isSuccess) return unclearSuccess(namedIn(envelope), number, said, hide);
  if (status === 401) return { kind: 'unauthorized', said };
  if (status === 403 || status === 404 || status === 405 || (status >= 300 && status < 400))
    return { kind: 'closed', said };
  if (status === 429 || (status === 503 && isError)) return busy(answer, said, now);
  if (isError && FINAL_NO.has(status)) return { kind: 'refused', said };
  return { kind: 'unknown', said };
}

/** The number of the order in a success envelope; undefined in every other body. */
function namedIn(envelope: Envelope): unknown {
  return envelope.kind === 'success' && isRecord(envelope.data)
    ? envelope.data['purchaseOrderNumber']
    : undefined;
}

/** A success envelope with an order in it is final, also when it names another number than was sent. */
function unclearSuccess(
  named: unknown,
  number: string,
  said: Said,
  hide: (text: string) => string,
): Seen {
  if (named === undefined || named === null || named === '') return { kind: 'unknown', said };
  const other = plainWords(
    typeof named === 'object' ? 'an order without a number' : hide(JSON.stringify(named)),
    100,
  );
  const message = `the API answered that it created ${other}, not "${number}"`;
  return { kind: 'misnamed', said: { ...said, code: 'other-number', message } };
}

function busy(answer: HttpAnswer, said: Said, now: Date): Busy {
  const retryAfter = readRetryAfter(answer.headers['retry-after'], now);
  const seen = { kind: 'busy', said, everyone: answer.status === 429 } as const;
  return retryAfter === undefined ? seen : { ...seen, retryAfter };
}

/** The words of an answer with its HTTP status. Of an answer without words, they name it. */
export function withStatus({ code, message, httpStatus }: Omit<Said, 'response'>): string {
  if (httpStatus === undefined || code === `http-${httpStatus}`) return message;
  return `${withoutStop(message)} (HTTP ${httpStatus})`;
}

/** A 2xx that does not say whether the order was created. */
export function isEmptySuccess({ said }: Extract<Seen, { kind: 'unknown' }>): boolean {
  return (
    said.httpStatus !== undefined &&
    said.httpStatus >= 200 &&
    said.httpStatus < 300 &&
    said.code !== 'no-answer'
  );
}

/** A reason with the wait that the API asks for, in milliseconds; 0: none. */
export function withWait(reason: string, asked = 0, who = 'the API'): string {
  return asked === 0 ? reason : clauses(reason, `${who} asks to wait ${Math.ceil(asked / 1000)} s`);
}

/**
 * Milliseconds from a Retry-After header, seconds or date (RFC 9110 10.2.3), at most an hour. Undefined when it cannot be
 * read or asks for no wait: then our own backoff applies.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const most = 3_600_000;
  const text = header.trim();
  if (/^\d+$/.test(text)) return above0(Math.min(Number(text) * 1000, most));
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : above0(Math.min(at - now.getTime(), most));
}

function above0(wait: number): number | undefined {
  return wait > 0 ? wait : undefined;
}

/** Secrets are removed before a text is cut: a part of one is not recognized. */
function saidBy(
  { status, body }: HttpAnswer,
  envelope: Envelope,
  hide: (text: string) => string,
): Said {
  const text = hide(body.toString('utf8'));
  const isError = envelope.kind === 'error';
  const code = isError ? hide(String(envelope.code)) : `http-${status}`;
  const message = plainWords(
    isError
      ? hide(envelope.message)
      : `the API answered HTTP ${status} without the expected envelope`,
    1000,
  );
  return { httpStatus: status, code, message, response: text.slice(0, 2000) };
}

/** Failures of a proxy and of TLS keep their codes: the API never heard of the order. */
function notSent(error: Error): Said {
  const code = codeOf(error) ?? '';
  return {
    code: isNetworkCode(code) ? code : 'not-sent',
    message: `could not be sent: ${reasonOf(error)}`,
  };
}

function brokenOff(error: Error, status: number | undefined): Said {
  const reason = reasonOf(error);
  const message = codeOf(error) === 'no-answer' ? reason : `no complete answer: ${reason}`;
  return status === undefined
    ? { code: 'no-answer', message }
    : { code: 'no-answer', message, httpStatus: status };
}

/** Text of a server without control and bidirectional characters, cut to `most` characters. */
export function plainWords(text: string, most: number): string {
  return onOneLine(text).slice(0, most);
}

/** An answer of the API, as the envelope of API parts 2 and 7; `none` for anything else. */
type Envelope =
  | { kind: 'success'; data: unknown }
  | { kind: 'error'; code: number; message: string }
  | { kind: 'none' };

/** Reads the envelope of a complete body. A body that is no envelope, or contradicts itself, is `none`. */
export function readEnvelope(body: Buffer): Envelope {
  const value = jsonOf(body);
  if (!isRecord(value)) return { kind: 'none' };
  const { status, data, error } = value;
  if (status === 'success')
    return error === null || error === undefined ? { kind: 'success', data } : { kind: 'none' };
  if (status !== 'error' || !isRecord(error)) return { kind: 'none' };
  const { code, message } = error;
  if (typeof code !== 'number' || !Number.isInteger(code)) return { kind: 'none' };
  return { kind: 'error', code, message: typeof message === 'string' ? message : '' };
}

/** Whether a value is an object with named properties. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON of a body; undefined if it is none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
