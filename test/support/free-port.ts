import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that Linux gives to outgoing connections: nobody takes one by accident, also not between a kill and a restart. */
const FIRST = 15_000;
const LAST = 32_000;

/** The first of `count` neighbouring loopback ports that nobody uses, and that no other test gets while this process runs. */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST - count));
    const kept: Server[] = [];
    for (let port = first; port < first + count; port += 1) {
      const claim = await claimOf(port);
      if (claim === undefined) break;
      kept.push(claim);
    }
    if (kept.length === count) return first;
    for (const claim of kept) claim.close();
  }
}

/**
 * The claim of this process to a port that nobody uses. A server that is to listen on it begins later, when another test
 * may look for a port, too: claims are abstract sockets, which have no file and end with their process.
 */
async function claimOf(port: number): Promise<Server | undefined> {
  const claim = await listening(`\0po-sync-test-port-${port}`);
  const probe = claim && (await listening(port));
  if (probe === undefined) {
    claim?.close();
    return undefined;
  }
  await new Promise((resolve) => probe.close(resolve));
  return claim?.unref();
}

/** Undefined when the address is taken. */
async function listening(at: string | number): Promise<Server | undefined> {
  const server = createServer();
  if (typeof at === 'string') server.listen(at);
  else server.listen(at, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
