import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { JSON_TYPE, type Reply } from './reply.ts';
import type { Client } from './sandbox-options.ts';
import { TOKEN_PREFIX } from './token-store.ts';

/** One call with its answer; `status` is 0 without an answer. Secrets and tokens are replaced by `[redacted]`. */
export type Exchange = {
  /** Counted from 1. */
  nr: number;
  /** Milliseconds since 1970. */
  at: number;
  durationMs: number;
  from: string;
  request: { method: string; target: string; headers: Record<string, string>; body: string };
  response: { status: number; headers: Record<string, string>; body: string };
};

/** The last calls to a sandbox. */
export type Exchanges = {
  /** Begins to record a call, before anybody reads its body; the result takes its reply, and returns the one to send. */
  begin(request: IncomingMessage): (reply: Reply) => Reply;
  /** The newest first. */
  last(): Exchange[];
};

const KEPT = 100;
/** Maximum characters of a body that are shown. */
const BODY = 8 * 1024;
/** Kept besides, so that a secret at the end of what is shown is recognized. */
const MARGIN = 1024;

/** Creates an empty record. */
export function createExchanges(redact: Redact): Exchanges {
  const kept: Exchange[] = [];
  let count = 0;
  return {
    begin(request) {
      const sent = collect();
      const decoder = new StringDecoder('utf8');
      request.on('data', (chunk: Buffer) => sent.add(decoder.write(chunk)));
      const [at, begun] = [Date.now(), performance.now()];
      return (reply) => {
        const answered = collect();
        if (reply.kind === 'complete' || reply.kind === 'cut') answered.add(reply.body);
        count += 1;
        const exchange = {
          nr: count,
          at,
          durationMs: performance.now() - begun,
          from: request.socket.remoteAddress ?? '',
          request: {
            method: request.method ?? '',
            target: redact(request.url ?? ''),
            headers: shownHeaders(pairsOf(request.rawHeaders), redact),
            get body() {
              return sent.text(redact);
            },
          },
          response: {
            status: reply.kind === 'drop' ? 0 : reply.status,
            headers: shownHeaders(Object.entries(headersOf(reply)), redact),
            get body() {
              return answered.text(redact);
            },
          },
        };
        kept.unshift(exchange);
        kept.length = Math.min(kept.length, KEPT);
        return reply.kind === 'stream'
          ? { ...reply, chunks: observed(reply.chunks, answered.add) }
          : reply;
      };
    },
    last: () => [...kept],
  };
}

/** Keeps the beginning of a text that arrives in pieces. */
function collect() {
  let text = '';
  let length = 0;
  return {
    add(piece: string): void {
      length += piece.length;
      if (text.length < BODY + MARGIN) text += piece.slice(0, BODY + MARGIN - text.length);
    },
    text(redact: Redact): string {
      const redacted = redact(text);
      if (length <= BODY) return redacted;
      // What was cut off within the margin may be half of a secret.
      const shown = length > text.length ? Math.min(BODY, redacted.length - MARGIN) : BODY;
      return `${redacted.slice(0, shown)}… (${length} characters)`;
    },
  };
}

async function* observed(
  chunks: Iterable<string> | AsyncIterable<string>,
  see: (chunk: string) => void,
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    see(chunk);
    yield chunk;
  }
}

/** The headers of a reply, before Node adds its own. */
function headersOf(reply: Reply): Readonly<Record<string, string>> {
  if (reply.kind === 'drop') return {};
  return { 'content-type': JSON_TYPE, ...(reply.kind === 'complete' ? reply.headers : {}) };
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as [string, string]] : [],
  );
}

function shownHeaders(pairs: readonly [string, string][], redact: Redact): Record<string, string> {
  // Not an object: a client may send a header `constructor`.
  const shown = new Map<string, string>();
  for (const [name, value] of pairs) {
    const text = /^(?:proxy-)?authorization$/.test(name)
      ? value.replace(/^(?:((?:basic|bearer|digest|token) ).*|.*)$/is, '$1[redacted]')
      : /cookie|secret|token|api-?key|passw|credential|signature/.test(name)
        ? '[redacted]'
        : redact(value);
    const before = shown.get(name);
    shown.set(name, before === undefined ? text : `${before}, ${text}`);
  }
  return Object.fromEntries(shown);
}

/** A separator in the name of a field, in any spelling. */
const DASH = '(?:[-_]|%5f|\\\\u005f)?';
const SECRET_FIELDS = `(?:client|user)?${DASH}(?:secret|password|assertion)|(?:(?:access|refresh|id)${DASH})?token|api${DASH}key`;
const NAMED_SECRETS = [
  // JSON, forms and queries, multipart forms, XML.
  new RegExp(`("(?:${SECRET_FIELDS})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`, 'gi'),
  new RegExp(`((?:^|[?&\\s])(?:${SECRET_FIELDS})=)[^&\\s]*`, 'gi'),
  new RegExp(
    `(name="?(?:${SECRET_FIELDS})"?(?:[^\\r\\n]+\\r?\\n|\\r?\\n)+\\r?\\n)[^\\r\\n]*`,
    'gi',
  ),
  new RegExp(`(<(?:${SECRET_FIELDS})>)[^<]*(?=</)`, 'gi'),
];
/** Tokens of any server where a scheme names them. */
const BEARER = /\b((?:bearer|basic) +)[\w.~+/%=-]{16,}/gi;
/** The tokens of every sandbox. */
const TOKEN = new RegExp(`${TOKEN_PREFIX}[\\w-]{43}`, 'g');
/** Shorter secrets would hide unrelated text. */
const LONG_ENOUGH = 8;

/** Replaces tokens and secrets in a text by `[redacted]`. */
export type Redact = (text: string) => string;

/** Creates the redaction for the secrets of some clients, in every usual spelling and wherever they occur. */
export function createRedaction(clients: readonly Client[]): Redact {
  const spellings = clients
    .filter(({ secret }) => secret.length >= LONG_ENOUGH)
    .flatMap(({ id, secret }) => [
      ...encoded(secret),
      JSON.stringify(secret).slice(1, -1),
      asciiJson(secret),
      ...encoded(secret).map((one, nth) => basicOf(`${encoded(id)[nth]}:${one}`)),
    ]);
  return (text) => {
    const named = NAMED_SECRETS.reduce(
      (rest, pattern) => rest.replace(pattern, '$1[redacted]'),
      text,
    );
    return spellings.reduce(
      (rest, secret) => rest.replaceAll(secret, '[redacted]'),
      named.replace(BEARER, '$1[redacted]').replace(TOKEN, '[redacted]'),
    );
  };
}

/** The spellings of a text in forms and queries: as it is, and with percent signs as different libraries write them. */
function encoded(text: string): string[] {
  const percent = encodeURIComponent(text);
  const all = percent.replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  return [text, percent, all, form, all.replaceAll('%20', '+')];
}

/** The text in JSON of libraries that write ASCII only. */
function asciiJson(text: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, escaped);
}

function basicOf(credentials: string): string {
  return Buffer.from(credentials).toString('base64').replace(/=+$/, '');
}
