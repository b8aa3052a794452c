import type { IncomingMessage } from 'node:http';
import { cutLater } from './cut-later.ts';

/** A whole body, or why there is none. */
export type Body = Buffer | 'too-large' | 'gone';

/** How much of a body that is too large is still read away, so that the sender gets to hear the answer. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/**
 * Reads a request's body up to `limit` bytes, and gives it to `take` once. `gone`: nobody hears an answer any more, also
 * because the connection was told already that this is no request.
 */
export function readBody(request: IncomingMessage, limit: number, take: (body: Body) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let isTaken = false;
  const give = (body: Body) => {
    if (isTaken) return;
    isTaken = true;
    take(request.socket.writableEnded ? 'gone' : body);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else chunks.length = 0;
    if (size > MOST_DISCARDED && !isTaken) {
      give('too-large');
      cutLater(request.socket);
    }
  });
  request.on('end', () => {
    const [first] = chunks;
    if (size > limit) give('too-large');
    else give(chunks.length === 1 && first ? first : Buffer.concat(chunks));
  });
  // Comes after every end too, where it changes nothing.
  request.on('close', () => give('gone'));
}
