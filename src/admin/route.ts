import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/fields.ts';
import type { Secret } from '../config/secret.ts';

/** The answer of a route: a text with its type. */
export type Reply = { status: number; type: string; body: string; headers?: Record<string, string> };

/** One path of the admin port. Its requests have passed the guard. */
export type Route = {
  method: 'GET' | 'POST';
  /** The exact path, without query. */
  path: string;
  handle(request: { url: URL }): Promise<Reply> | Reply;
};

/** A small JSON document as an answer. */
export function jsonReply(status: number, document: unknown, headers: Record<string, string> = {}): Reply {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(document)}\n`, headers };
}

/** The answer to a request that is refused; undefined for a request that may pass. */
export type Guard = (request: IncomingMessage) => Reply | undefined;

/**
 * Guards the admin port. On loopback the Host header must name this machine: a web page can make a browser call
 * 127.0.0.1 under another name (DNS rebinding). With a token, every request must contain it (RFC 6750).
 */
export function adminGuard({ host, token }: { host: string; token?: Secret | undefined }): Guard {
  const wanted = token === undefined ? undefined : digest(token.reveal());
  return (request) => {
    if (isLoopback(host) && !namesThisMachine(request.headers.host)) {
      return jsonReply(403, { error: 'The Host header must name this machine, such as localhost.' });
    }
    if (wanted === undefined || timingSafeEqual(digest(bearerOf(request)), wanted)) return undefined;
    return jsonReply(401, { error: 'A bearer token is required.' }, { 'www-authenticate': 'Bearer realm="po-sync"' });
  };
}

function namesThisMachine(host: string | undefined): boolean {
  return host !== undefined && isLoopback(host.replace(/:[0-9]+$/, ''));
}

function bearerOf(request: IncomingMessage): string {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** Digests have equal lengths, so the comparison takes the same time for every token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
