import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { AdminRole } from '../../config/secrets.ts';
import { systemClock } from '../../core/clock.ts';
import { type ErrorDocument, errorDocument, PoSyncError } from '../../core/errors.ts';
import { within } from '../../core/semaphore.ts';

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

/** A file that arrived, and the fields of its form; without a form, `fileName` is empty. */
export type UploadBody = {
  fields: Readonly<Record<string, string>>;
  fileName: string;
  content: Uint8Array;
};

/** Bytes of a file, and what the parts of a form add to it. */
const MOST_FILE = 64 * 1024 * 1024;
const FORM = 64 * 1024;

/** Milliseconds in which an upload, and any other body, must arrive. */
export const UPLOAD_TAKES = 300_000;
/** How long an upload waits for those before it, in milliseconds. */
export const UPLOAD_WAITS = 60_000;
const BODY_TAKES = 10_000;

/** Content types and most bytes of each kind of body. */
const BODIES: Record<BodyKind, { types: readonly string[]; most: number; takes: number }> = {
  json: { types: ['application/json'], most: 1024 * 1024, takes: BODY_TAKES },
  form: { types: ['application/x-www-form-urlencoded'], most: 8 * 1024, takes: BODY_TAKES },
  sheet: { types: ['application/x-www-form-urlencoded'], most: 1024 * 1024, takes: BODY_TAKES },
  upload: {
    types: ['application/octet-stream', 'multipart/form-data'],
    most: MOST_FILE + FORM,
    takes: UPLOAD_TAKES,
  },
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
  [/^(?:redis-away|lists-being-read|uploads-busy)$/, 503],
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

/**
 * Reads a body within its bounds. PoSyncError `body-type`, `body-too-large`, `body-too-slow`, `body-not-json`,
 * `body-not-multipart`, `upload-too-large`.
 */
export async function readBody(
  request: IncomingMessage,
  kind: BodyKind | undefined,
  takes = kind && BODIES[kind].takes,
): Promise<unknown> {
  if (kind === undefined || takes === undefined) {
    request.resume();
    return undefined;
  }
  const { types, most } = BODIES[kind];
  const { 'content-type': given = '', 'content-encoding': coding } = request.headers;
  const type = given.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!types.includes(type) || coding !== undefined)
    throw new PoSyncError('body-type', `The body must be ${types.join(' or ')}, not compressed.`);
  const body = await readAll(request, most, takes);
  if (kind === 'upload') return uploadBody(body, given);
  if (kind !== 'json') return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    throw new PoSyncError('body-not-json', 'The body is not a JSON document in UTF-8.', {
      remedy: 'Send one JSON document in UTF-8.',
    });
  }
}

/** A file as the body, or a form with one. */
async function uploadBody(body: Buffer<ArrayBuffer>, type: string): Promise<UploadBody> {
  let [fileName, content]: [string, Uint8Array] = ['', body];
  const fields: Record<string, string> = {};
  if (!type.startsWith('application/octet-stream')) {
    const form = await new Response(body, { headers: { 'content-type': type } })
      .formData()
      .catch(() => undefined);
    const file = [...(form?.values() ?? [])].find((value) => typeof value !== 'string');
    if (form === undefined || file === undefined)
      throw new PoSyncError('body-not-multipart', 'The body is not a complete form with a file.', {
        remedy: 'Choose a file, and send it again.',
      });
    for (const [name, value] of form) if (typeof value === 'string') fields[name] = value;
    [fileName, content] = [file.name, await file.bytes()];
  }
  if (content.length > MOST_FILE)
    throw new PoSyncError('upload-too-large', `The file has more than ${MOST_FILE >> 20} MB.`, {
      remedy: 'Split it, or have it dropped into the folder of its source.',
    });
  return { fields, fileName, content };
}

/** Refuses an upload that waited too long: PoSyncError `uploads-busy`. */
export async function refuseUpload(request: IncomingMessage): Promise<never> {
  // Its sender sees the answer only after the body.
  await readAll(request, 0, BODY_TAKES).catch(() => undefined);
  throw new PoSyncError('uploads-busy', 'Other files are being uploaded.', {
    remedy: 'Upload this file again in a minute.',
  });
}

async function readAll(request: IncomingMessage, most: number, takes: number) {
  const body = await within(takes, collect(request, most), systemClock);
  if (body !== undefined) return body;
  throw new PoSyncError('body-too-slow', `The body took more than ${takes / 1_000} s.`, {
    remedy: 'Send it again over a faster connection.',
  });
}

/** Bytes of a refused body that are read, so that its sender sees the answer. */
const MOST_DRAINED = 512 * 1024 * 1024;

async function collect(request: AsyncIterable<Buffer>, most: number): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > MOST_DRAINED) break;
    if (bytes <= most) pieces.push(piece);
  }
  if (bytes > most)
    throw new PoSyncError('body-too-large', `The body has more than ${most} bytes.`, {
      remedy: 'Send less at once.',
    });
  return Buffer.concat(pieces);
}
