import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { codeOf, interruption, PoSyncError } from '../../core/errors.ts';
import * as tell from '../../log/events/daemon.ts';
import type { Log } from '../../log/log.ts';
import {
  cannotUse,
  lastWords,
  newState,
  newStateWithPort,
  readState,
  refuseForeignFolder,
  type ServerState,
} from './server-folder.ts';
import {
  closeConnection,
  type FindServer,
  hasEnded,
  type Probe,
  probeServer,
  readinessOf,
  startServer,
} from './server-process.ts';

/** A private Redis that answers, with the open connection that marks it as in use. */
export type RunningServer = { state: ServerState; client: Redis; adopted: boolean };

type Deps = {
  clock: Clock;
  find: FindServer;
  signal?: AbortSignal | undefined;
  log?: Log | undefined;
};

/** How long to wait for a server that neither answers nor ends, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Returns the running server of `folder`, or starts one and waits until it is ready. Of several processes that do this
 * at once, one starts it and the others adopt it. With `port`, only at that port, because others know the address.
 * Throws PoSyncError as `openPrivateRedis`.
 */
export async function adoptOrStart(
  folder: string,
  deps: Deps,
  port?: number,
): Promise<RunningServer> {
  try {
    return await adoptOrStartAlone(folder, deps, port);
  } catch (error) {
    throw error instanceof PoSyncError ? error : cannotUse(folder, error);
  }
}

async function adoptOrStartAlone(
  folder: string,
  deps: Deps,
  port?: number,
): Promise<RunningServer> {
  using _alone = await lockFolder(folder, deps.clock, deps.signal);
  const remembered = await readState(folder);
  const probe = remembered ? await look(remembered, folder, deps) : undefined;
  // Await here: returning releases the lock.
  if (remembered && probe?.found === 'ours')
    return await adopt(probe.client, remembered, folder, deps);
  await refuseForeignFolder(folder);
  const usable = probe?.found === 'stranger' ? undefined : remembered;
  return port === undefined
    ? await startSomewhere(usable, folder, deps)
    : await start(folder, requirePort(usable, port), deps);
}

async function adopt(
  client: Redis,
  state: ServerState,
  folder: string,
  deps: Deps,
): Promise<RunningServer> {
  await waitUntilReady(client, folder, deps);
  return { state, client, adopted: true };
}

/** Tries the remembered address, or a socket, then a new port: only binding shows whether it can be used. */
async function startSomewhere(
  state: ServerState | undefined,
  folder: string,
  deps: Deps,
): Promise<RunningServer> {
  try {
    return await start(folder, state ?? (await newState(folder)), deps);
  } catch (error) {
    if (codeOf(error) !== 'redis-start') throw error;
    return start(folder, await newStateWithPort(), deps);
  }
}

function requirePort(remembered: ServerState | undefined, port: number): ServerState {
  if (remembered?.port === port) return remembered;
  throw new PoSyncError('redis-moved', `The private Redis can no longer use port ${port}.`, {
    remedy: 'Another program uses the port. Start po-sync again to use a new one.',
  });
}

/** Probes until the result is clear. Throws PoSyncError `redis-frozen` when our server runs but never answers. */
async function look(state: ServerState, folder: string, deps: Deps): Promise<Probe> {
  const since = deps.clock.monotonic();
  for (;;) {
    const probe = await probeServer(state, folder);
    if (probe.found !== 'frozen') return probe;
    if (deps.clock.monotonic() - since > PATIENCE) throw frozen(state, folder);
    await pause(deps);
  }
}

async function start(folder: string, state: ServerState, deps: Deps): Promise<RunningServer> {
  const since = deps.clock.monotonic();
  const server = await startServer(folder, state, deps.find);
  try {
    const started = { ...state, pid: server.pid ?? 0 };
    const client = await waitUntilOurs(server, started, folder, deps);
    await waitUntilReady(client, folder, deps);
    const durationMs = Math.round(deps.clock.monotonic() - since);
    if (deps.log)
      tell.privateRedisStarted(deps.log, { port: state.port, serverPid: started.pid, durationMs });
    return { state: started, client, adopted: false };
  } catch (error) {
    server.kill('SIGTERM');
    throw error;
  }
}

async function waitUntilOurs(
  server: ChildProcess,
  state: ServerState,
  folder: string,
  deps: Deps,
): Promise<Redis> {
  const since = deps.clock.monotonic();
  for (;;) {
    const ended = hasEnded(server);
    const probe = await probeServer(state, folder);
    // Check this also after ours has ended: a server that a killed process had just started can have won the port.
    if (probe.found === 'ours') return probe.client;
    if (ended) throw await failed(folder);
    if (deps.clock.monotonic() - since > PATIENCE) throw frozen(state, folder);
    await pause(deps);
  }
}

/** Waits while the server loads its data. */
async function waitUntilReady(client: Redis, folder: string, deps: Deps): Promise<void> {
  try {
    while ((await readinessOf(client)) === 'loading') await pause(deps);
  } catch (error) {
    closeConnection(client);
    throw error instanceof PoSyncError ? error : await failed(folder);
  }
}

async function pause({ clock, signal }: Deps): Promise<void> {
  await clock.sleep(20, signal);
  if (signal?.aborted) throw interruption('Interrupted while waiting for the private Redis.');
}

async function failed(folder: string): Promise<PoSyncError> {
  return new PoSyncError(
    'redis-start',
    `The private Redis in ${folder} ended at once:\n${await lastWords(folder)}`,
    {
      remedy: 'Fix what it reports (disk space, permissions). `redis-check-aof` checks its files.',
    },
  );
}

function frozen(state: ServerState, folder: string): PoSyncError {
  const facts = { pid: state.pid, port: state.port };
  return new PoSyncError(
    'redis-frozen',
    `The private Redis in ${folder}, process ${state.pid}, does not answer.`,
    {
      remedy: `Resume it, or end it with \`kill -9 ${state.pid}\`. Everything it confirmed is on disk.`,
      facts,
    },
  );
}

/** SQLite's error code while another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Takes the lock for starting or stopping the server of `folder`; waits until it is free or `signal` aborts
 * (PoSyncError `interrupted`). Dispose to release it. It is a SQLite lock, because the kernel releases that when its
 * holder dies, so it is never stale. It writes nothing, so that a full disk does not hide a server that runs.
 */
export async function lockFolder(
  folder: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Disposable> {
  const database = new DatabaseSync(path.join(folder, 'lock'));
  try {
    while (!isTaken(database)) {
      await clock.sleep(20, signal);
      if (signal?.aborted)
        throw interruption(`Interrupted while waiting for the lock of ${folder}.`);
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
