import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { growingWait } from '../../core/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, toError } from '../../core/errors.ts';
import * as tell from '../../events/private-redis.ts';
import type { Log } from '../../log/log.ts';
import { adoptOrStart, type RunningServer } from './adopt-or-start.ts';
import { findRedisServer } from './find-server.ts';
import { prepareFolder } from './server-folder.ts';
import type { FindServer } from './start-server.ts';
import { stopUnlessUsed } from './stop-unless-used.ts';

/** A Redis of our own that keeps its data below the data folder. */
export type PrivateRedis = AsyncDisposable & {
  /** With its password: not for logs. */
  url: string;
  /** It was running already: started by another process of ours, or left behind by one that was killed. */
  adopted: boolean;
};

type Options = {
  /** The data folder; the server works in `redis` below it. */
  data: string;
  clock: Clock;
  signal?: AbortSignal;
  log?: Log;
  /** Which server to run; the machine's own unless told otherwise. */
  find?: FindServer;
};

const REVIVE = { initial: 200, max: 30_000 };

type Deps = { clock: Clock; find: FindServer; log?: Log | undefined; signal: AbortSignal };

/**
 * Adopts the private Redis of a data folder, or starts it, and keeps it: one that dies is started again at the same
 * address. However many processes do this at once, one server runs. Our open connection tells the others that it is
 * in use; the last one to dispose stops it, so close every other connection first.
 * Waits while it loads its data. Throws PoSyncError `redis-missing`, `redis-too-old`, `redis-folder`, `redis-start`
 * (it ended at once: with its last words), `redis-frozen`, `interrupted`.
 */
export async function openPrivateRedis(options: Options): Promise<PrivateRedis> {
  const { data, clock, signal, log, find = findRedisServer } = options;
  const folder = await prepareFolder(data);
  const first = await adoptOrStart(folder, { clock, find, signal, log });
  const closing = new AbortController();
  const last = keepAlive(first, folder, { clock, find, log, signal: closing.signal });
  return {
    url: `redis://:${first.state.password}@127.0.0.1:${first.state.port}/0`,
    adopted: first.adopted,
    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      closing.abort();
      const running = await last;
      if (running) await stopUnlessUsed(running, folder, { clock, log });
    },
  };
}

/** Starts the server again whenever it ends, until `signal` aborts; gives the one that runs then, if any. */
async function keepAlive(first: RunningServer, folder: string, deps: Deps): Promise<RunningServer | undefined> {
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

/** Tries with growing waits until the server is back at its port; undefined when `signal` aborts before. */
async function revive(port: number, folder: string, deps: Deps): Promise<RunningServer | undefined> {
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
