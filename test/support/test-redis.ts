import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findRedisServer } from '../../src/redis/private-server/server-process.ts';
import { freePort } from './free-port.ts';

export type TestRedis = AsyncDisposable & {
  /** As po-sync uses it: with `REDIS_ACL=1` as the user that docs/operations/redis.md describes. */
  url: string;
  /** As its administrator uses it. */
  adminUrl: string;
  port: number;
  /** Where it keeps its data. */
  folder: string;
  /** Ends the server (SIGKILL by default) and resolves when it is gone; its data stay. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Stops it from answering, while its connections stay open. */
  freeze(): void;
  /** Lets a frozen server run again. */
  thaw(): void;
  /** Starts it again on the same port with the same data; resolves when it answers. */
  restart(): Promise<void>;
};

const PASSWORD = 'password-of-the-documented-user';

/** The user that docs/operations/redis.md describes; every Redis of a test has it. */
export const DOCUMENTED_USER = { username: 'po-sync', password: PASSWORD };

/** Of the user that the tests use, at the place in an address where it belongs. */
export const LOGIN = process.env['REDIS_ACL'] === undefined ? '' : `po-sync:${PASSWORD}@`;

/** What tests do over a connection of the program; `test/redis/acl.test.ts` holds that the program itself does not. */
const OF_TESTS = [
  'flushall',
  'flushdb',
  'keys',
  'config',
  'dbsize',
  'decr',
  'replicaof',
  'shutdown',
  'type',
  'wait',
  'xlen',
  'client|pause',
]
  .map((name) => `+${name}`)
  .join(' ');

/** The line of an ACL file that docs/operations/redis.md shows. */
async function documentedUser(): Promise<string> {
  const found = (await documentedUsers()).find((line) => line.startsWith('user po-sync on '));
  if (found === undefined) throw new Error('docs/operations/redis.md shows no user');
  return `${found} ${OF_TESTS}`;
}

/** The ACL file that docs/operations/redis.md shows, with the password of the tests. */
export async function documentedUsers(): Promise<string[]> {
  const page = path.resolve(import.meta.dirname, '../../docs/operations/redis.md');
  const lines = (await readFile(page, 'utf8')).match(/^user .*$/gm) ?? [];
  return lines.map((line) => line.replace(' >PASSWORD ', ` >${PASSWORD} `));
}

const OPEN_TO_TESTS = ['user default on nopass ~* &* +@all'];

type Settings = Record<string, string | number | readonly string[]>;

/** A real Redis on a free loopback port, as durable as the private one; removed with its folder when disposed. */
export async function startTestRedis({
  databases = 16,
  env,
  settings = {},
  users = [],
}: {
  databases?: number;
  /** More settings of the server. */
  settings?: Settings;
  /** More lines of its ACL file; `only`: all lines. */
  users?: readonly string[] | { only: readonly string[] };
  /** More variables of the server's environment. */
  env?: Record<string, string>;
} = {}): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-redis-'));
  const port = await freePort();
  const aclFile = path.join(folder, 'users.acl');
  const lines = 'only' in users ? users.only : [...OPEN_TO_TESTS, await documentedUser(), ...users];
  await writeFile(aclFile, `${lines.join('\n')}\n`);
  const options = { databases, aclfile: aclFile, ...settings };
  let server = await startServer(folder, port, options, env);

  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (hasEnded(server)) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  return {
    url: `redis://${LOGIN}127.0.0.1:${port}/0`,
    adminUrl: `redis://127.0.0.1:${port}/0`,
    port,
    folder,
    kill,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async restart() {
      await kill();
      server = await startServer(folder, port, options, env);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(
  folder: string,
  port: number,
  more: Settings,
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const found = await findRedisServer();
  if (!found) throw new Error('no redis-server on this machine: npm test installs it');
  const options = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'maxmemory-policy': 'noeviction',
    loglevel: 'warning',
    ...more,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [
    `--${name}`,
    ...[value].flat().map(String),
  ]);
  const server = spawn(found.file, args, {
    argv0: found.argv0,
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  const endWithTests = () => server.kill('SIGKILL');
  process.once('exit', endWithTests);
  server.once('exit', () => process.removeListener('exit', endWithTests));
  while (!(await answers(port))) {
    if (hasEnded(server)) throw new Error(`the Redis for this test ended at once (port ${port})`);
    await delay(10);
  }
  return server;
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

/** Whether the server answers PING, which it refuses while it loads its data, or asks who is there. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const settle = (alive: boolean) => {
      socket.destroy();
      resolve(alive);
    };
    socket.once('data', (data) => settle(/^(?:\+PONG|-NOAUTH)/.test(data.toString())));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
