import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { AdminRole } from '../../config/secrets.ts';
import { PoSyncError, toError } from '../../core/errors.ts';

/** Who asks: what they may do, and their name in the history of orders; empty for a reader without a login. */
export type Principal = { role: AdminRole; who: string };

/** The answer of a route. A stream is sent as it comes. */
export type Reply = {
  status: number;
  type: string;
  body: string | Buffer | Readable;
  headers?: Record<string, string>;
};

/** What a route receives. `params`: the named steps of its path, decoded. `cookie`: the session cookie as it came. */
export type AdminRequest = {
  url: URL;
  params: Readonly<Record<string, string>>;
  body: unknown;
  principal: Principal | undefined;
  cookie: string | undefined;
};

/** One path of the admin port. Its requests have passed the guard. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path without query; `:name` stands for one step. */
  path: string;
  /** Who may ask: by default `read` for GET, `operate` for the others. `nobody`: no login is needed. */
  needs?: AdminRole | 'nobody';
  /** What the body is; without it the body is ignored. `form`: a form without JavaScript; `sheet`:
   * one with many fields. */
  body?: BodyKind;
  handle(request: AdminRequest): Promise<Reply> | Reply;
};

export type BodyKind = 'json' | 'bytes' | 'form' | 'sheet';

/** Content type and most bytes of each kind of body. */
const BODIES: Record<BodyKind, { type: string; most: number }> = {
  json: { type: 'application/json', most: 1024 * 1024 },
  bytes: { type: 'application/octet-stream', most: 1024 * 1024 },
  form: { type: 'application/x-www-form-urlencoded', most: 8 * 1024 },
  sheet: { type: 'application/x-www-form-urlencoded', most: 1024 * 1024 },
};

/** A JSON document as an answer. */
export function jsonReply(status: number, document: unknown, headers: Record<string, string> = {}): Reply {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(document)}\n`, headers };
}

/** The status of an error that a handler throws, by its code or the end of its code. */
const STATUSES: readonly (readonly [code: RegExp, status: number])[] = [
  [/^(?:redis-away|lists-being-read)$/, 503],
  [/-unknown$|^not-found$/, 404],
  [/^body-too-large$/, 413],
  [/^body-type$/, 415],
  [/^(?:foreign-origin|not-allowed|confirmation-missing)$/, 403],
  [/^(?:usage|body|parameter)-|-invalid$|-ambiguous$/, 400],
  [/^too-many-/, 429],
];

/**
 * An error as problem details (RFC 9457) with `code` and `remedy`. An error that po-sync does not throw deliberately
 * says nothing about itself.
 */
export function problemReply(thrown: unknown, status?: number, headers: Record<string, string> = {}): Reply {
  const error = toError(thrown);
  if (!(error instanceof PoSyncError)) return problem(500, { code: 'internal', detail: 'Internal error.' }, headers);
  const { code, message: detail, remedy } = error;
  const found = status ?? STATUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 409;
  return problem(found, { code, detail, ...(remedy === undefined ? {} : { remedy }) }, headers);
}

function problem(
  status: number,
  facts: { code: string; detail: string; remedy?: string },
  headers: Record<string, string>,
): Reply {
  const document = { type: `urn:po-sync:${facts.code}`, title: facts.code, status, ...facts };
  return { ...jsonReply(status, document, headers), type: 'application/problem+json; charset=utf-8' };
}

/** The named steps of a path, decoded; undefined for another path, or one that cannot be decoded. */
export function matchPath(pattern: string, pathname: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), pathname.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, step] of wanted.entries()) {
    const text = given[i] ?? '';
    if (!step.startsWith(':')) {
      if (step !== text) return undefined;
      continue;
    }
    const value = decoded(text);
    if (value === undefined || value === '') return undefined;
    params[step.slice(1)] = value;
  }
  return params;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Reads a body within its bounds. PoSyncError `body-type`, `body-too-large`, `body-not-json`. */
export async function readBody(request: IncomingMessage, kind: BodyKind | undefined): Promise<unknown> {
  if (kind === undefined) {
    request.resume();
    return undefined;
  }
  const { type, most } = BODIES[kind];
  const given = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (given !== type || request.headers['content-encoding'] !== undefined) {
    throw new PoSyncError('body-type', `The body must be ${type}, not compressed.`);
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > most) throw new PoSyncError('body-too-large', `The body has more than ${most} bytes.`);
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  if (kind === 'bytes') return body;
  if (kind === 'form' || kind === 'sheet') return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    throw new PoSyncError('body-not-json', 'The body is not a JSON document in UTF-8.');
  }
}
