import { readlink } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { codeOf, toError } from '../../core/errors.ts';
import type { ServerState } from './server-state.ts';

/**
 * Who answers at the remembered port:
 * our server, with a connection that is now open; nobody; another program; or nobody while our server still runs,
 * frozen, so that no second one may touch its files.
 */
export type Probe = { found: 'ours'; client: Redis } | { found: 'nobody' | 'stranger' | 'frozen' };

/** Looks whether the server that works in `folder` (a real path) is the one `state` leads to. */
export async function probeServer(state: ServerState, folder: string): Promise<Probe> {
  const client = new Redis({
    host: '127.0.0.1',
    port: state.port,
    password: state.password,
    connectionName: 'po-sync-keeper',
    lazyConnect: true,
    // It must answer while it loads its data, and one look is one connection.
    enableReadyCheck: false,
    retryStrategy: null,
    reconnectOnError: null,
    maxRetriesPerRequest: 0,
    connectTimeout: 3_000,
    commandTimeout: 3_000,
    disconnectTimeout: 100,
  });
  let trouble: unknown;
  client.on('error', (error: unknown) => {
    trouble ??= error;
  });
  try {
    await client.connect();
    const [, served] = await client.config('GET', 'dir').then(asTexts);
    if (served === folder) return { found: 'ours', client };
  } catch (error) {
    trouble ??= error;
  }
  closeConnection(client);
  if (await worksIn(state.pid, folder)) return { found: 'frozen' };
  return { found: codeOf(trouble) === 'ECONNREFUSED' ? 'nobody' : 'stranger' };
}

/** Closes a connection at once. One that has ended already is left: ioredis would keep the process waiting for it. */
export function closeConnection(client: Redis): void {
  if (client.status !== 'end') client.disconnect();
}

/** Waits for nothing: 'ready', or 'loading' while the server reads its data. Throws when it has gone. */
export async function readinessOf(client: Redis): Promise<'ready' | 'loading'> {
  try {
    await client.ping();
    return 'ready';
  } catch (error) {
    if (toError(error).message.startsWith('LOADING')) return 'loading';
    throw error;
  }
}

/** Whether the process runs with `folder` as its own, as a Redis server does. Only Linux tells. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (pid === 0) return false;
  const at = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return at === folder;
}

function asTexts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
