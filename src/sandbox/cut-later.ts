import type { Duplex } from 'node:stream';

/** How long a last answer may take to be read, in milliseconds. */
const LINGER = 1000;

/** Ends a connection whose sender may still be sending. Not at once: the system would throw the answer away. */
export function cutLater(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER).unref();
}
