import type { IncomingMessage } from 'node:http';
import { JSON_TYPE, type Reply } from './reply.ts';

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
/** Most characters of a body that are kept. */
const BODY = 8 * 1024;

/** Creates an empty record; `isToken` recognizes a token, `secrets` are replaced wherever they occur. */
export function createExchanges(secrets: readonly string[], isToken: (text: string) => boolean): Exchanges {
  const kept: Exchange[] = [];
  const redact = createRedaction(secrets, isToken);
  let count = 0;
  return {
    begin(request) {
      const sent = collect();
      request.on('data', (chunk: Buffer) => sent.add(chunk.toString('utf8')));
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
              return redact(sent.text());
            },
          },
          response: {
            status: reply.kind === 'drop' ? 0 : reply.status,
            headers: shownHeaders(Object.entries(headersOf(reply)), redact),
            get body() {
              return redact(answered.text());
            },
          },
        };
        kept.unshift(exchange);
        kept.length = Math.min(kept.length, KEPT);
        return reply.kind === 'stream' ? { ...reply, chunks: observed(reply.chunks, answered.add) } : reply;
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
      if (text.length < BODY) text += piece.slice(0, BODY - text.length);
    },
    text: () => (length > text.length ? `${text}… (${length} characters)` : text),
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
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as [string, string]] : []));
}

function shownHeaders(pairs: readonly [string, string][], redact: (text: string) => string): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const text = /^(?:proxy-)?authorization$/.test(name)
      ? value.replace(/^(?:(\S+ ).*|.*)$/s, '$1[redacted]')
      : /cookie|secret|token|api-?key/.test(name)
        ? '[redacted]'
        : redact(value);
    shown[name] = shown[name] === undefined ? text : `${shown[name]}, ${text}`;
  }
  return shown;
}

const SECRET_FIELDS = 'client_secret|client_assertion|access_token|refresh_token|password';
const IN_JSON = new RegExp(`("(?:${SECRET_FIELDS})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`, 'g');
const IN_FORM = new RegExp(`((?:^|[?&\\s])(?:${SECRET_FIELDS})=)[^&\\s]*`, 'g');
/** Text of the length of an access token. */
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;
/** Shorter secrets would hide unrelated text. */
const LONG_ENOUGH = 8;

function createRedaction(secrets: readonly string[], isToken: (text: string) => boolean): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret.length >= LONG_ENOUGH)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  return (text) => {
    const named = text.replace(IN_JSON, '$1[redacted]').replace(IN_FORM, '$1[redacted]');
    const known = named.replace(TOKEN, (word) => (isToken(word) ? '[redacted]' : word));
    return spellings.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), known);
  };
}
