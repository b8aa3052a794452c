import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { JSON_TYPE, type Reply } from './reply.ts';
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
/** Maximum characters of a body that are shown, and of one that is collected. */
const SHOWN = 8 * 1024;
const COLLECTED = 64 * 1024;

/** Creates an empty record. `secretHeaders`: names whose values are not shown, besides those that say it. */
export function createExchanges(redact: Redact, secretHeaders: readonly string[]): Exchanges {
  const shownHeaders = createHeaderView(redact, secretHeaders);
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
        kept.unshift({
          nr: count,
          at,
          durationMs: performance.now() - begun,
          from: request.socket.remoteAddress ?? '',
          request: {
            method: request.method ?? '',
            target: redact(request.url ?? ''),
            headers: shownHeaders(Object.entries(request.headersDistinct)),
            get body() {
              return sent.text(redact);
            },
          },
          response: {
            status: reply.kind === 'drop' ? 0 : reply.status,
            headers: shownHeaders(Object.entries(headersOf(reply))),
            get body() {
              return answered.text(redact);
            },
          },
        });
        kept.length = Math.min(kept.length, KEPT);
        return reply.kind === 'stream'
          ? { ...reply, chunks: observed(reply.chunks, answered.add) }
          : reply;
      };
    },
    last: () => [...kept],
  };
}

/** Keeps the beginning of a text that arrives in pieces: more than is shown, so that no half secret is at its end. */
function collect() {
  let text = '';
  return {
    add(piece: string): void {
      text = (text + piece).slice(0, COLLECTED);
    },
    text(redact: Redact): string {
      const all = redact(text);
      return all.length <= SHOWN ? all : `${all.slice(0, SHOWN)}…`;
    },
  };
}

function* observed(chunks: Iterable<string>, see: (chunk: string) => void): Generator<string> {
  for (const chunk of chunks) {
    see(chunk);
    yield chunk;
  }
}

/** The headers of a reply, before Node adds its own. */
function headersOf(reply: Reply): Readonly<Record<string, string>> {
  if (reply.kind === 'drop') return {};
  return { 'content-type': JSON_TYPE, ...(reply.kind === 'complete' ? reply.headers : {}) };
}

/** Names of headers that carry secrets. */
const SECRET_NAME = /authorization|cookie|secret|token|api-?key|passw|credential|signature/;

function createHeaderView(redact: Redact, secretHeaders: readonly string[]) {
  const secret = new Set(secretHeaders.map((name) => name.toLowerCase()));
  return (pairs: readonly [string, string | string[] | undefined][]): Record<string, string> =>
    Object.fromEntries(
      pairs.map(([name, value]) => {
        const isSecret = SECRET_NAME.test(name) || secret.has(name);
        return [name, isSecret ? '[redacted]' : redact(String(value))];
      }),
    );
}

/** The tokens of every sandbox. */
const TOKEN = new RegExp(`${TOKEN_PREFIX}[\\w-]{43}`, 'g');
/** What a form calls a secret, also one that is not the client's. */
const FORM_SECRET = /((?:^|[?&])client_secret=)[^&\s]*/g;

/** Replaces tokens and secrets in a text by `[redacted]`. */
export type Redact = (text: string) => string;

/** Creates the redaction for a client's secret, also as a form or an address has it. */
export function createRedaction(secret: string): Redact {
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const spellings = [secret, encodeURIComponent(secret), form];
  return (text) =>
    spellings.reduce(
      (rest, spelling) => rest.replaceAll(spelling, '[redacted]'),
      text.replace(FORM_SECRET, '$1[redacted]').replace(TOKEN, '[redacted]'),
    );
}
