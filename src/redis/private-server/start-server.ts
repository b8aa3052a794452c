import { type ChildProcess, spawn } from 'node:child_process';
import { PoSyncError } from '../../core/errors.ts';
import type { RedisServer } from './find-server.ts';
import { createServerLog, writeConfiguration } from './server-folder.ts';
import { type ServerState, writeState } from './server-state.ts';

/** Finds the program to run. */
export type FindServer = () => Promise<RedisServer | undefined>;

/** BullMQ's own minimum. */
const OLDEST = [6, 2] as const;

/**
 * Starts a server in `folder` by `state` and remembers its pid; does not wait until it answers.
 * It has a process group and session of its own: neither Ctrl-C nor a supervisor that ends us ends it before
 * our last word is stored. It outlives us.
 * Throws PoSyncError `redis-missing` or `redis-too-old`.
 */
export async function startServer(folder: string, state: ServerState, find: FindServer): Promise<ChildProcess> {
  const program = requireUsable(await find());
  const configuration = await writeConfiguration(folder, state);
  // Before it runs: if we are killed now, the next start looks for it there, and of two at one port only one lives.
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

/** Whether it has ended, or never began. */
export function hasEnded(server: ChildProcess): boolean {
  return server.pid === undefined || server.exitCode !== null || server.signalCode !== null;
}

function requireUsable(program: RedisServer | undefined): RedisServer {
  if (!program) {
    throw new PoSyncError('redis-missing', 'there is no redis-server on this machine.', {
      remedy:
        'Install it: `apt-get install redis-tools` on Debian and Ubuntu, `dnf install redis` or `apk add redis` elsewhere; or set redis.url.',
    });
  }
  const [major = 0, minor = 0] = program.version.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new PoSyncError(
      'redis-too-old',
      `${program.file} is version ${program.version}; 6.2 is the oldest that works.`,
      {
        remedy: 'Install a newer Redis or Valkey, or set redis.url to one.',
        facts: { version: program.version },
      },
    );
  }
  return program;
}
