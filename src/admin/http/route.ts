import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { AdminRole } from '../../config/secrets.ts';
import { type ErrorDocument, errorDocument, PoSyncError } from '../../core/errors.ts';
import { boundaryIn, partsOf } from './multipart.ts';

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
  /** Where it comes from, and whether a browser would not keep a session that it opens. */
  address: string;
  isPlain: boolean;
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

export type BodyKind = 'json' | 'form' | 'sheet' | 'upload';

/**
 * A file that arrives, and the fields of its form; without a form, `fileName` is empty. `rest`: what is left of the
 * body, for a reader that stopped early.
 */
export type UploadBody = {
  fields: Readonly<Record<string, string>>;
  fileName: string;
  content: AsyncIterable<Buffer>;
  rest: AsyncIterable<Buffer>;
};

/** Content type and most bytes of each kind of body that is read at once. */
const BODIES: Record<Exclude<BodyKind, 'upload'>, { type: string; most: number }> = {
  json: { type: 'application/json', most: 1024 * 1024 },
  form: { type: 'application/x-www-form-urlencoded', most: 8 * 1024 },
  sheet: { type: 'application/x-www-form-urlencoded', most: 1024 * 1024 },
};

/** A JSON document as an answer. */
export function jsonReply(
  status: number,
  document: unknown,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    type: 'application/json; charset=utf-8',
    body: `${JSON.stringify(document)}\n`,
    headers,
  };
}

/** The status of an error that a handler throws, by its code or the end of its code. */
const STATUSES: readonly (readonly [code: RegExp, status: number])[] = [
  [/^(?:redis-away|lists-being-read)$/, 503],
  [/-unknown$|^not-found$/, 404],
  [/^(?:body|upload)-too-large$/, 413],
  [/^body-too-slow$/, 408],
  [/^body-type$/, 415],
  [/^(?:foreign-origin|not-allowed|confirmation-missing|sign-in-plain)$/, 403],
  [/^(?:usage|body|parameter)-|-invalid$|-ambiguous$/, 400],
  [/^too-many-/, 429],
];

/**
 * An error as JSON, as commands print it. One that po-sync does not throw deliberately says nothing about itself. What a
 * person enters on a page, a program sends: the fact `inBody` says how.
 */
export function problemReply(
  thrown: unknown,
  status?: number,
  headers: Record<string, string> = {},
): Reply {
  const error = errorDocument(thrown);
  if (error.code === 'internal') return problem(500, { ...error, message: 'Internal error.' });
  const { inBody, ...facts } = error.facts;
  const remedy = inBody === undefined ? error.remedy : `Send ${inBody} in the body to confirm.`;
  const found = status ?? STATUSES.find(([pattern]) => pattern.test(error.code))?.[1] ?? 409;
  const later = found === 503 ? { 'retry-after': LATER, ...headers } : headers;
  return problem(found, { ...error, remedy, facts }, later);
}

/** Seconds after which a client asks again for what is not available yet. */
const LATER = '1';

function problem(status: number, error: ErrorDocument, headers?: Record<string, string>): Reply {
  return jsonReply(status, { error }, headers);
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

/** Milliseconds in which a body must arrive, except for that of an upload. */
const BODY_TAKES = 10_000;

/**
 * Reads a body within its bounds; that of an upload is left to the route. PoSyncError `body-type`, `body-too-large`,
 * `body-too-slow`, `body-not-json`, `body-not-multipart`.
 */
export async function readBody(
  request: IncomingMessage,
  kind: BodyKind | undefined,
  takes = BODY_TAKES,
): Promise<unknown> {
  if (kind === undefined) {
    request.resume();
    return undefined;
  }
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (request.headers['content-encoding'] !== undefined) throw wrongType('not compressed');
  if (kind === 'upload') return uploadBody(request, type);
  if (type !== BODIES[kind].type) throw wrongType(BODIES[kind].type);
  const body = await readAll(request, BODIES[kind].most, takes);
  if (kind !== 'json') return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    throw new PoSyncError('body-not-json', 'The body is not a JSON document in UTF-8.', {
      remedy: 'Send one JSON document in UTF-8.',
    });
  }
}

function tooLarge(message: string): PoSyncError {
  return new PoSyncError('body-too-large', message, { remedy: 'Send less at once.' });
}

function wrongType(wanted: string): PoSyncError {
  return new PoSyncError(
    'body-type',
    `The body must be ${wanted}${wanted === 'not compressed' ? '' : ', not compressed'}.`,
  );
}

async function readAll(request: IncomingMessage, most: number, takes: number): Promise<Buffer> {
  const end = new AbortController();
  const late = delay(takes, undefined, { signal: end.signal }).then(() => {
    throw new PoSyncError('body-too-slow', `The body took more than ${takes / 1_000} s.`, {
      remedy: 'Send it again over a faster connection.',
    });
  });
  const reading = collect(request, most);
  try {
    return await Promise.race([reading, late]);
  } finally {
    end.abort();
    for (const one of [reading, late]) one.catch(() => undefined);
  }
}

async function collect(request: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > most) throw tooLarge(`The body has more than ${most} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Fields of a form before its file. */
const MOST_FIELDS = 20;

/** A file as the body, or a form whose last part is the file. */
async function uploadBody(request: IncomingMessage, type: string): Promise<UploadBody> {
  const content = unbroken(request);
  if (type === 'application/octet-stream')
    return { fields: {}, fileName: '', content, rest: content };
  const boundary = boundaryIn(request.headers['content-type']);
  if (boundary === undefined) throw wrongType('application/octet-stream or multipart/form-data');
  const fields: Record<string, string> = {};
  for await (const part of partsOf(content, boundary)) {
    if (part.fileName !== undefined)
      return { fields, fileName: part.fileName, content: part.content, rest: content };
    let text = '';
    for await (const piece of part.content) {
      text += piece.toString('utf8');
      if (text.length > 1_000) throw tooLarge('A field of the form is too long.');
    }
    fields[part.name] = text;
    if (Object.keys(fields).length > MOST_FIELDS) {
      throw tooLarge(`The form has more than ${MOST_FIELDS} fields.`);
    }
  }
  throw new PoSyncError('body-not-multipart', 'The form has no file.', {
    remedy: 'Choose a file.',
  });
}

/** The body of a request. A reader that stops early would end its connection, and its sender would see no answer. */
function unbroken(request: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const chunks = request[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) };
}
