import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to outgoing connections: nobody takes one by accident, also not between a kill and a restart. */
const FIRST = 15_000;
const LAST = 32_000;

/** The first of `count` neighbouring loopback ports that nobody uses at this moment. */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count));
    const all = await Promise.all(Array.from({ length: count }, (_, nth) => isFree(first + nth)));
    if (all.every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
