import { type ChildProcess, spawn } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import {
  addressOf,
  createServerLog,
  type ServerState,
  writeConfiguration,
  writeState,
} from './server-folder.ts';

/** How to run a Redis server on this machine: `spawn(file, args, { argv0 })`. */
type RedisServer = {
  file: string;
  argv0: string;
  /** As the program reports it, such as `7.0.15`. */
  version: string;
};

/** Debian's `redis-tools` contains the server without the system service, under this name. Its argv0 selects the program. */
const underAnotherName = ['/usr/bin/redis-check-rdb', '/usr/local/bin/redis-check-rdb'];

const candidates = [
  { file: 'redis-server', argv0: 'redis-server' },
  { file: 'valkey-server', argv0: 'valkey-server' },
  ...underAnotherName.map((file) => ({ file, argv0: 'redis-server' })),
];

/** Finds the first server that runs: `redis-server` or `valkey-server` in PATH, then the one in `redis-tools`. */
export async function findRedisServer(): Promise<RedisServer | undefined> {
  for (const candidate of candidates) {
    const version = await versionOf(candidate.file, candidate.argv0);
    if (version !== undefined) return { ...candidate, version };
  }
  return undefined;
}

function versionOf(file: string, argv0: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Not the option `timeout`: it would keep the process alive for that long when the file is missing.
    const signal = AbortSignal.timeout(5_000);
    const program = spawn(file, ['--version'], {
      argv0,
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
    });
    let output = '';
    program.stdout.on('data', (bytes) => {
      output += bytes;
    });
    program.once('error', () => resolve(undefined));
    program.once('close', () => resolve(/\bv=([\d.]+)/.exec(output)?.[1]));
  });
}

/** Finds the program to run. */
export type FindServer = () => Promise<RedisServer | undefined>;

/**
 * Starts a server in `folder` with the port and password of `state` and stores its pid. Does not wait until it answers.
 * The server has its own process group and session: Ctrl-C or a supervisor that stops po-sync does not stop it before
 * the last write is stored.
 * Throws PoSyncError `redis-missing`.
 */
export async function startServer(
  folder: string,
  state: ServerState,
  find: FindServer,
): Promise<ChildProcess> {
  const program = await find();
  if (!program)
    throw new PoSyncError('redis-missing', 'redis-server is not installed.', {
      remedy:
        'Install it with `apt-get install redis-tools` (Debian, Ubuntu), `dnf install redis` or `apk add redis`, or set redis.url.',
    });
  const configuration = await writeConfiguration(folder, state);
  // Before it runs: after a kill here, the next start looks for it at this port, where only one server can run.
  await writeState(folder, { ...state, pid: 0 });
  await using log = await createServerLog(folder);
  const server = spawn(program.file, [configuration], {
    argv0: program.argv0,
    cwd: folder,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  server.on('error', () => undefined);
  server.unref();
  await writeState(folder, { ...state, pid: server.pid ?? 0 });
  return server;
}

/** Whether the process has ended or never started. */
export function hasEnded(server: ChildProcess): boolean {
  return server.pid === undefined || server.exitCode !== null || server.signalCode !== null;
}

/**
 * What answers at the remembered port. `ours`: our server, with an open connection. `stranger`: another program.
 * `frozen`: nothing, but the process of our server still runs, so a second server must not touch its files.
 */
export type Probe = { found: 'ours'; client: Redis } | { found: 'nobody' | 'stranger' | 'frozen' };

/** Nobody listens at the port, at the socket, or there is no socket. */
const NOBODY = ['ECONNREFUSED', 'ENOENT'];

/** Checks whether the server at the port of `state` works in `folder` (a real path). */
export async function probeServer(state: ServerState, folder: string): Promise<Probe> {
  const client = new Redis(addressOf(folder, state), {
    connectionName: 'po-sync-keeper',
    lazyConnect: true,
    // It must answer while it loads its data, and each probe uses one connection.
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
  return { found: NOBODY.includes(codeOf(trouble) ?? '') ? 'nobody' : 'stranger' };
}

/** Closes a connection at once. ioredis would keep the process waiting for one that has already ended. */
export function closeConnection(client: Redis): void {
  if (client.status !== 'end') client.disconnect();
}

/** Returns at once: `ready`, or `loading` while the server loads its data. Throws when the server is gone. */
export async function readinessOf(client: Redis): Promise<'ready' | 'loading'> {
  try {
    await client.ping();
    return 'ready';
  } catch (error) {
    if (toError(error).message.startsWith('LOADING')) return 'loading';
    throw error;
  }
}

/** Whether the working directory of the process is `folder`, as for our server. Known on Linux only. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (pid === 0) return false;
  const at = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return at === folder;
}

function asTexts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/** Counts the other clients. Looks several times, because connections that were just closed can still be listed. */
export async function countOthers(client: Redis, clock: Clock): Promise<number> {
  const own = `id=${await client.client('ID')} `;
  let others = 0;
  for (let look = 0; look < 10; look++) {
    const lines = String(await client.client('LIST'))
      .trim()
      .split('\n');
    others = lines.filter((line) => !line.startsWith(own)).length;
    if (others === 0) break;
    await clock.sleep(30);
  }
  return others;
}
