import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toError } from '../core/errors.ts';

type Headers = Readonly<Record<string, string>>;

/** A success envelope around JSON text (API part 2). */
export function success(status: number, data: string): CompleteReply {
  return { kind: 'complete', status, body: `{"status":"success","data":${data},"error":null}` };
}

/** An error envelope whose numeric code is the HTTP status (API parts 2 and 7). */
export function failure(status: number, message: string, headers?: Headers): CompleteReply {
  return {
    kind: 'complete',
    status,
    body: failureText(status, message),
    ...(headers && { headers }),
  };
}

/** The error envelope as text. */
export function failureText(code: number, message: string): string {
  return `{"status":"error","error":{"code":${code},"message":${JSON.stringify(message)}}}`;
}

/** How a call ends on its connection. */
export type Reply =
  /** A complete body; JSON unless `headers` name another type. */
  | { kind: 'complete'; status: number; body: string; headers?: Headers }
  /** The body is generated while it is sent. */
  | { kind: 'stream'; status: number; chunks: Iterable<string> }
  /** The head and half of the body are sent, then the connection ends. */
  | { kind: 'cut'; status: number; body: string }
  /** No answer: FIN (`close`) or RST (`reset`). */
  | { kind: 'drop'; how: 'close' | 'reset' };

export type CompleteReply = Extract<Reply, { kind: 'complete' }>;

/** The default media type of answers. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends a reply. Calls `broken` and ends the connection when a stream fails. */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  broken: (error: Error) => void,
): void {
  switch (reply.kind) {
    case 'complete':
      sendComplete(response, reply);
      return;
    case 'stream':
      sendStream(response, reply).catch((thrown: unknown) => {
        response.destroy();
        broken(toError(thrown));
      });
      return;
    case 'cut':
      sendCut(response, reply.status, reply.body);
      return;
    case 'drop':
      // Use the request's socket: a pipelined response has none until its turn.
      if (reply.how === 'reset') response.req.socket.resetAndDestroy();
      else response.req.socket.destroy();
      return;
  }
}

function sendComplete(response: ServerResponse, reply: CompleteReply): void {
  const { status, body, headers } = reply;
  const hasLength =
    headers?.['transfer-encoding'] === undefined && status !== 204 && status !== 304;
  const measured = hasLength ? { 'content-length': Buffer.byteLength(body) } : {};
  response.writeHead(status, { 'content-type': JSON_TYPE, ...measured, ...headers }).end(body);
}

async function sendStream(
  response: ServerResponse,
  { status, chunks }: Extract<Reply, { kind: 'stream' }>,
): Promise<void> {
  response.writeHead(status, { 'content-type': JSON_TYPE });
  for (const chunk of chunks) {
    if (response.destroyed) return;
    // A long answer must not delay other calls.
    if (response.write(chunk)) await nextTurn();
    else await drained(response);
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const left = new AbortController();
  const gone = once(response, 'close', { signal: left.signal });
  const ready = once(response, 'drain', { signal: left.signal });
  await Promise.race([gone, ready]).catch(() => undefined);
  left.abort();
  await Promise.allSettled([gone, ready]);
}

function sendCut(response: ServerResponse, status: number, body: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': bytes.length });
  response.write(bytes.subarray(0, Math.max(1, bytes.length >> 1)), () =>
    response.req.socket.destroy(),
  );
}
