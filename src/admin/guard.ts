import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/address.ts';
import type { Secret } from '../config/secret.ts';
import { jsonReply } from './json-reply.ts';
import type { Reply } from './route.ts';

/** Answers a request that may not pass, and nothing for one that may. */
export type Guard = (request: IncomingMessage) => Reply | undefined;

/**
 * Guards the admin port. On loopback the Host header must name this machine: a web page can make a browser call
 * 127.0.0.1 under a name of its own (DNS rebinding). With a token, every request must bring it (RFC 6750).
 */
export function adminGuard({ host, token }: { host: string; token?: Secret | undefined }): Guard {
  const wanted = token === undefined ? undefined : digest(token.reveal());
  return (request) => {
    if (isLoopback(host) && !namesThisMachine(request.headers.host)) {
      return jsonReply(403, { error: 'the Host header must name this machine, such as localhost' });
    }
    if (wanted === undefined || timingSafeEqual(digest(bearerOf(request)), wanted)) return undefined;
    return jsonReply(401, { error: 'a bearer token is needed' }, { 'www-authenticate': 'Bearer realm="po-sync"' });
  };
}

function namesThisMachine(host: string | undefined): boolean {
  return host !== undefined && isLoopback(host.replace(/:[0-9]+$/, ''));
}

function bearerOf(request: IncomingMessage): string {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** Equal lengths, so that comparing takes the same time whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
