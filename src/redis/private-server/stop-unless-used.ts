import type { Redis } from 'ioredis';
import type { Clock } from '../../core/clock.ts';
import { toError } from '../../core/errors.ts';
import * as tell from '../../events/private-redis.ts';
import type { Log } from '../../log/log.ts';
import type { RunningServer } from './adopt-or-start.ts';
import { lockFolder } from './lock-folder.ts';
import { closeConnection, probeServer } from './probe-server.ts';

type Deps = { clock: Clock; log?: Log | undefined };

/** How long a stop may take; whoever starts it next waits for its end all the same. */
const PATIENCE = 10_000;

/**
 * Gives up our use of the private Redis, and stops it when no other client is connected.
 * Under the lock of starting: a newcomer is connected already, or waits and starts it again;
 * and of two that leave at once the second sees that it is the last. One that does not answer is left alone.
 */
export async function stopUnlessUsed(running: RunningServer, folder: string, deps: Deps): Promise<void> {
  const { client, state } = running;
  try {
    using _alone = await lockFolder(folder, deps.clock, AbortSignal.timeout(PATIENCE));
    const clients = await countOthers(client, deps.clock);
    if (clients === 0) await stop(running, folder, deps);
    else if (deps.log) tell.privateRedisLeft(deps.log, { port: state.port, clients });
  } catch (error) {
    if (deps.log) tell.privateRedisNotStopped(deps.log, { port: state.port, error: toError(error).message });
  } finally {
    closeConnection(client);
  }
}

async function stop({ client, state }: RunningServer, folder: string, { clock, log }: Deps): Promise<void> {
  const since = clock.monotonic();
  const passed = () => Math.round(clock.monotonic() - since);
  await client.shutdown().catch(() => undefined);
  while ((await probeServer(state, folder)).found !== 'nobody' && passed() < PATIENCE) await clock.sleep(10);
  if (log) tell.privateRedisStopped(log, { port: state.port, durationMs: passed() });
}

/** Clients other than ourselves. Connections closed a moment ago may still be listed, so it looks a few times. */
async function countOthers(client: Redis, clock: Clock): Promise<number> {
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
