import type { IncomingMessage } from 'node:http';

/** A whole body, or why there is none. */
export type Body = Buffer | 'too-large' | 'gone';

/** How much of a body that is too large is still read away, so that the sender gets to hear the answer. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/** Reads a request's body up to `limit` bytes. Never rejects. */
export function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (size > MOST_DISCARDED) resolve('too-large');
    });
    request.on('end', () => {
      const [first] = chunks;
      if (size > limit) resolve('too-large');
      else resolve(chunks.length === 1 && first ? first : Buffer.concat(chunks));
    });
    // Comes after every end too, where it changes nothing.
    request.on('close', () => resolve('gone'));
  });
}
