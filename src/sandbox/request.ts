import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { failure, type Reply } from './reply.ts';

/** The head of one HTTP request. */
export type Call = {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  request: IncomingMessage;
};

/** Reads the head of a request. */
export function callOf(request: IncomingMessage): Call {
  const [path, query] = splitTarget(request.url ?? '');
  return {
    method: request.method ?? '',
    path,
    query: new URLSearchParams(query),
    headers: request.headers,
    request,
  };
}

/** Path and query of a request target in origin or absolute form (RFC 9112 part 3.2). */
function splitTarget(target: string): [path: string, query: string] {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const [path = '', ...query] = origin.split('?');
  return [path, query.join('?')];
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The 405 for a method that a path does not support; `allow` lists the others. */
export function notAllowed(method: string, allow: string): Reply {
  return failure(405, `The method ${method} is not supported for this resource.`, { allow });
}

/** The header that a refusal for the wrong media type names (RFC 9110 section 12.5.1). */
const SEND_JSON = { accept: 'application/json' };

/**
 * Checks the headers that every call must carry (API part 5, rule 4).
 * Returns the refusal when one is missing or has another value; `lenient` also allows none, and a wider Accept.
 */
export function refuseHeaders(
  headers: IncomingHttpHeaders,
  strictness: 'strict' | 'lenient',
): Reply | undefined {
  const { 'content-type': contentType, 'content-encoding': contentEncoding, accept } = headers;
  const mayLack = strictness === 'lenient';
  if (!(mayLack && contentType === undefined) && !isJsonType(contentType)) {
    return failure(
      415,
      `Send the header Content-Type: application/json (received: ${said(contentType)}).`,
      SEND_JSON,
    );
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return failure(
      415,
      `Send the body without the header Content-Encoding (received: ${said(contentEncoding)}).`,
    );
  }
  if (!(mayLack && accept === undefined) && !acceptsJson(accept ?? '', mayLack)) {
    return failure(406, `Send the header Accept: application/json (received: ${said(accept)}).`);
  }
  return undefined;
}

/** Refuses a call that lacks a header which this environment demands, or has another value. */
export function refuseWithoutDemanded(
  headers: IncomingHttpHeaders,
  demanded: Readonly<Record<string, string>> = {},
): Reply | undefined {
  const [lacking] = Object.entries(demanded).find(
    ([name, value]) => headers[name.toLowerCase()] !== value,
  ) ?? [undefined];
  if (lacking === undefined) return undefined;
  return failure(403, `The header ${lacking} is missing or has another value.`);
}

/** Allows any parameters, except a charset other than UTF-8 (RFC 8259). */
function isJsonType(type = ''): boolean {
  return /^application\/json[ \t]*(?!.*;[ \t]*charset[ \t]*=(?![ \t]*"?utf-?8\b))(?:;.*)?$/i.test(
    type,
  );
}

/** Whether a client takes JSON, or anything where that is enough; weight 0 excludes a media range (RFC 9110, 12.4.2). */
function acceptsJson(accept: string, mayBeAny: boolean): boolean {
  const name = mayBeAny ? /^(?:application\/(?:json|\*)|\*\/\*)$/i : /^application\/json$/i;
  return accept.split(',').some((range) => {
    const [type = ''] = range.split(';', 1);
    return name.test(type.trim()) && !/;[ \t]*q[ \t]*=[ \t]*0(?:\.0*)?[ \t]*(?:;|$)/i.test(range);
  });
}

function said(value: string | undefined): string {
  return value === undefined ? 'none' : JSON.stringify(value.slice(0, 100));
}

/** A complete body, or why there is none. */
export type Body = Buffer | 'too-large' | 'gone';

/** How many bytes of an oversized body are read and discarded, so that the sender can read the answer. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/**
 * Reads a request's body up to `limit` bytes. `gone`: the connection is closed, or was already answered because its
 * bytes are not valid HTTP.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const give = (body: Body) => resolve(request.socket.writableEnded ? 'gone' : body);
    request.on('data', (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (size <= MOST_DISCARDED || before > MOST_DISCARDED) return;
      give('too-large');
      cutLater(request.socket);
    });
    request.on('end', () => give(size > limit ? 'too-large' : Buffer.concat(chunks)));
    // Also fires after `end`, where it has no effect.
    request.on('close', () => give('gone'));
  });
}

/** How long a client may take to read its last answer, in milliseconds. */
const LINGER = 1000;

/** Closes a connection whose client may still be sending; closing at once would discard the answer. */
export function cutLater(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER).unref();
}
