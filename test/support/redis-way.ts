import { createConnection, createServer, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { LOGIN } from './test-redis.ts';
import { listen } from './web-server.ts';

/** A way to a Redis of a test that can be cut. */
export async function openRedisWay(port: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let refused = 0;
  const server = createServer((near) => {
    if (!isOpen) {
      refused += 1;
      near.on('error', () => undefined).destroy();
      return;
    }
    const far = createConnection(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const cut = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://${LOGIN}127.0.0.1:${await listen(server)}/0`,
    cut,
    /** How many connections were ended at once while it was cut. */
    refused: () => refused,
    open: () => {
      isOpen = true;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As after a failover: the server begins another history, and what it has may be older. */
export async function takeOver(admin: Pick<Redis, 'replicaof'>): Promise<void> {
  await admin.replicaof('127.0.0.1', 1);
  await admin.replicaof('NO', 'ONE');
}
