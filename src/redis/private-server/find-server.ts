import { spawn } from 'node:child_process';

/** How to run a Redis server on this machine: `spawn(file, args, { argv0 })`. */
export type RedisServer = {
  file: string;
  argv0: string;
  /** As the program tells it, e.g. `7.0.15`. */
  version: string;
};

/** Debian's `redis-tools` holds the server without the system service, under another name: it goes by its argv0. */
const underAnotherName = ['/usr/bin/redis-check-rdb', '/usr/local/bin/redis-check-rdb'];

const candidates = [
  { file: 'redis-server', argv0: 'redis-server' },
  { file: 'valkey-server', argv0: 'valkey-server' },
  ...underAnotherName.map((file) => ({ file, argv0: 'redis-server' })),
];

/** The first server that runs: `redis-server` or `valkey-server` of PATH, else the one within `redis-tools`. */
export async function findRedisServer(): Promise<RedisServer | undefined> {
  for (const candidate of candidates) {
    const version = await versionOf(candidate.file, candidate.argv0);
    if (version !== undefined) return { ...candidate, version };
  }
  return undefined;
}

function versionOf(file: string, argv0: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // A signal and no `timeout`: that would hold the process for its whole length where the file is missing.
    const signal = AbortSignal.timeout(5_000);
    const program = spawn(file, ['--version'], { argv0, stdio: ['ignore', 'pipe', 'ignore'], signal });
    let told = '';
    program.stdout.on('data', (bytes) => {
      told += bytes;
    });
    program.once('error', () => resolve(undefined));
    program.once('close', () => resolve(/\bv=([\d.]+)/.exec(told)?.[1]));
  });
}
