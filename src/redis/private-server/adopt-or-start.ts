import type { ChildProcess } from 'node:child_process';
import type { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import * as tell from '../../events/private-redis.ts';
import type { Log } from '../../log/log.ts';
import { lockFolder } from './lock-folder.ts';
import { closeConnection, type Probe, probeServer, readinessOf } from './probe-server.ts';
import { lastWords } from './server-folder.ts';
import { newState, readState, type ServerState } from './server-state.ts';
import { type FindServer, hasEnded, startServer } from './start-server.ts';

/** A private Redis that answers, with an open connection that says we use it. */
export type RunningServer = { state: ServerState; client: Redis; adopted: boolean };

type Deps = { clock: Clock; find: FindServer; signal?: AbortSignal | undefined; log?: Log | undefined };

/** How long a server that neither answers nor ends is waited for. */
const PATIENCE = 10_000;

/**
 * The server of `folder`: the one that runs, or else a new one, ready to serve. Of several processes that ask at once
 * one starts it and the others adopt it. With `port`, at that port or not at all: others know the address already.
 */
export async function adoptOrStart(folder: string, deps: Deps, port?: number): Promise<RunningServer> {
  using _alone = await lockFolder(folder, deps.clock, deps.signal);
  const remembered = await readState(folder);
  const probe = remembered ? await look(remembered, folder, deps) : undefined;
  // Awaited here, because returning lets go of the lock.
  if (remembered && probe?.found === 'ours') return await adopt(probe.client, remembered, folder, deps);
  const usable = probe?.found === 'stranger' ? undefined : remembered;
  return port === undefined
    ? await startSomewhere(usable, folder, deps)
    : await start(folder, requirePort(usable, port), deps);
}

async function adopt(client: Redis, state: ServerState, folder: string, deps: Deps): Promise<RunningServer> {
  await waitUntilReady(client, folder, state, deps);
  if (deps.log) tell.privateRedisAdopted(deps.log, { port: state.port });
  return { state, client, adopted: true };
}

/** At the remembered port, or else at a new one: a port may be taken in a way that only binding shows. */
async function startSomewhere(state: ServerState | undefined, folder: string, deps: Deps): Promise<RunningServer> {
  if (!state) return start(folder, await newState(), deps);
  try {
    return await start(folder, state, deps);
  } catch (error) {
    if (codeOf(error) !== 'redis-start') throw error;
    return start(folder, await newState(), deps);
  }
}

function requirePort(remembered: ServerState | undefined, port: number): ServerState {
  if (remembered?.port === port) return remembered;
  throw new PoSyncError('redis-moved', `the private Redis can no longer serve at port ${port}.`, {
    remedy: 'Another program took the port; start po-sync again to use a new one.',
  });
}

/** Looks until the answer is clear. Throws PoSyncError `redis-frozen` when our server lives but never answers. */
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
    await waitUntilReady(client, folder, started, deps);
    const durationMs = Math.round(deps.clock.monotonic() - since);
    if (deps.log) tell.privateRedisStarted(deps.log, { port: state.port, serverPid: started.pid, durationMs });
    return { state: started, client, adopted: false };
  } catch (error) {
    server.kill('SIGTERM');
    throw error;
  }
}

async function waitUntilOurs(server: ChildProcess, state: ServerState, folder: string, deps: Deps): Promise<Redis> {
  const since = deps.clock.monotonic();
  for (;;) {
    const ended = hasEnded(server);
    const probe = await probeServer(state, folder);
    // Also when ours has ended: one that a killed process had just started can have won the port.
    if (probe.found === 'ours') return probe.client;
    if (ended) throw await failed(folder);
    if (deps.clock.monotonic() - since > PATIENCE) throw frozen(state, folder);
    await pause(deps);
  }
}

/** Waits as long as the server loads its data. */
async function waitUntilReady(client: Redis, folder: string, state: ServerState, deps: Deps): Promise<void> {
  let told = false;
  try {
    while ((await readinessOf(client)) === 'loading') {
      if (deps.log && !told) tell.privateRedisLoading(deps.log, { port: state.port });
      told = true;
      await pause(deps);
    }
  } catch (error) {
    closeConnection(client);
    throw error instanceof PoSyncError ? error : await failed(folder);
  }
}

async function pause({ clock, signal }: Deps): Promise<void> {
  await clock.sleep(20, signal);
  if (signal?.aborted) throw new PoSyncError('interrupted', 'interrupted while waiting for the private Redis.');
}

async function failed(folder: string): Promise<PoSyncError> {
  return new PoSyncError('redis-start', `the private Redis in ${folder} ended at once:\n${await lastWords(folder)}`, {
    remedy: 'Mend what it names (disk space, rights); `redis-check-aof` examines its files.',
  });
}

function frozen(state: ServerState, folder: string): PoSyncError {
  const facts = { pid: state.pid, port: state.port };
  return new PoSyncError('redis-frozen', `the private Redis in ${folder}, process ${state.pid}, does not answer.`, {
    remedy: `Let it go on, or end it with \`kill -9 ${state.pid}\`: what it confirmed is on the disk.`,
    facts,
  });
}
