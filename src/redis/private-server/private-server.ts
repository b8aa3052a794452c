import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { growingWait } from '../../core/backoff/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, toError } from '../../core/errors.ts';
import * as tell from '../../log/events/daemon.ts';
import type { Log } from '../../log/log.ts';
import { adoptOrStart, lockFolder, type RunningServer } from './adopt-or-start.ts';
import { addressOf, prepareFolder } from './server-folder.ts';
import {
  closeConnection,
  countOthers,
  type FindServer,
  findRedisServer,
  probeServer,
} from './server-process.ts';

/** A Redis server that po-sync starts and keeps, with its data below the data folder. */
type PrivateRedis = AsyncDisposable & {
  /** Contains the password: never log it. */
  url: string;
  /** It was already running: another po-sync process started it, or a killed one left it behind. */
  adopted: boolean;
};

type Options = {
  /** The data folder; the server works in `redis` below it. */
  data: string;
  clock: Clock;
  signal?: AbortSignal;
  log?: Log;
  /** Which server to run; by default the one installed on this machine. */
  find?: FindServer;
};

const REVIVE = { initial: 200, max: 30_000 };

type StopDeps = { clock: Clock; log?: Log | undefined };
type Deps = StopDeps & { find: FindServer; signal: AbortSignal };

/**
 * Adopts the private Redis of a data folder or starts it, and restarts it at the same address when it ends. Any number
 * of processes may do this at once; one server runs. The open connection shows the others that the server is in use.
 * The last process to dispose stops it, so close every other connection first. Waits while it loads its data.
 * Throws PoSyncError `redis-missing`, `redis-folder`, `folder-not-private`, `redis-start` (it ended at once; with its last
 * log lines), `redis-frozen`, `interrupted`.
 */
export async function openPrivateRedis(options: Options): Promise<PrivateRedis> {
  const { data, clock, signal, log, find = findRedisServer } = options;
  const folder = await prepareFolder(data);
  const first = await adoptOrStart(folder, { clock, find, signal, log });
  const closing = new AbortController();
  const last = keepAlive(first, folder, { clock, find, log, signal: closing.signal });
  return {
    url: addressOf(folder, first.state),
    adopted: first.adopted,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort();
      const running = await last;
      if (running) await stopUnlessUsed(running, folder, { clock, log });
    },
  };
}

/** Restarts the server whenever it ends, until `signal` aborts. Returns the one that runs then, if any. */
async function keepAlive(
  first: RunningServer,
  folder: string,
  deps: Deps,
): Promise<RunningServer | undefined> {
  const { port } = first.state;
  let running: RunningServer | undefined = first;
  while (running) {
    await endOf(running.client, deps.signal);
    if (deps.signal.aborted) return running;
    if (deps.log) tell.privateRedisLost(deps.log, { port });
    running = await revive(port, folder, deps);
  }
  return undefined;
}

/** Resolves when the connection ends or `signal` aborts. */
async function endOf(client: Redis, signal: AbortSignal): Promise<void> {
  if (client.status === 'end') return;
  await once(client, 'end', { signal }).catch(() => undefined);
}

/** Retries with growing waits until the server is back at its port; undefined when `signal` aborts first. */
async function revive(
  port: number,
  folder: string,
  deps: Deps,
): Promise<RunningServer | undefined> {
  for (let attempt = 1; !deps.signal.aborted; attempt++) {
    try {
      return await adoptOrStart(folder, deps, port);
    } catch (error) {
      if (deps.signal.aborted) return undefined;
      const facts = { code: codeOf(error) ?? 'unknown', error: toError(error).message, attempt };
      if (deps.log) tell.privateRedisNotRevived(deps.log, facts);
    }
    await deps.clock.sleep(growingWait(attempt, REVIVE), deps.signal);
  }
  return undefined;
}

/** How long a stop may take, in milliseconds. The next start waits for the end in any case. */
const PATIENCE = 10_000;

/**
 * Releases the private Redis and stops it when no other client is connected. Holds the lock that starting takes: a new
 * process is either connected already or waits and starts it again, and of two that leave at once the second sees that
 * it is the last.
 */
async function stopUnlessUsed(
  running: RunningServer,
  folder: string,
  deps: StopDeps,
): Promise<void> {
  const { client } = running;
  try {
    using _alone = await lockFolder(folder, deps.clock, AbortSignal.timeout(PATIENCE));
    if ((await countOthers(client, deps.clock)) === 0) await stop(running, folder, deps);
  } catch {
    // One that does not answer is left alone: the next start adopts it.
  } finally {
    closeConnection(client);
  }
}

async function stop(
  { client, state }: RunningServer,
  folder: string,
  { clock, log }: StopDeps,
): Promise<void> {
  const since = clock.monotonic();
  const passed = () => Math.round(clock.monotonic() - since);
  await client.shutdown().catch(() => undefined);
  while ((await probeServer(state, folder)).found !== 'nobody' && passed() < PATIENCE)
    await clock.sleep(10);
  if (log) tell.privateRedisStopped(log, { port: state.port, durationMs: passed() });
}
