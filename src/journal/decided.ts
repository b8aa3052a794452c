import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { PoSyncError, toError } from '../core/errors.ts';
import type { Context, Store } from '../redis/store.ts';
import type { RedisTime } from '../redis/time.ts';
import type { Decision, Noted } from './decision.ts';
import { FOLDER, type Journals, journalsBelow } from './folder.ts';

/** What a decision is kept with. */
export type Deciding = Pick<Context, 'owner' | 'clock'> & {
  config: Pick<Config, 'reports' | 'environment'>;
  store: Pick<Store, 'redis' | 'keys'> & { time: Pick<RedisTime, 'now'> };
  /** In place of the folder of reports, as in a simulation. */
  journals?: Journals;
};

/**
 * Keeps what `who` decided, and then does it. Redis counts the bytes of each journal that it has, so that it is seen whether it
 * lost some of them. Throws PoSyncError `decision-not-kept`, and nothing is done.
 */
export async function decided<T>(
  who: string,
  decisions: readonly Decision[],
  { config, store: { redis, keys, time }, owner, clock, ...more }: Deciding,
  act: () => Promise<T>,
): Promise<T> {
  if (decisions.length === 0) return await act();
  const { environment, reports } = config;
  const epoch = (await redis.hget(keys.identity, 'epoch')) ?? '';
  const at = time.now();
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const name = `${day}-${hostname().replaceAll(/[^\w.-]/g, '_')}-${owner}.ndjson`;
  const lines = decisions.map((decision): Noted => {
    return { id: randomUUID(), at, epoch, environment, who, ...decision };
  });
  // A line before these may be cut off, because the disk was full.
  const text = lines.map((line) => `\n${JSON.stringify(line)}\n`).join('');
  const { append } = more.journals ?? journalsBelow(reports.path);
  await append(name, text).catch((error: unknown) => {
    throw notKept(join(reports.path, FOLDER), error);
  });
  const done = await act();
  // Without that it is only done again, which changes nothing.
  await redis.hincrby(keys.journals, name, Buffer.byteLength(text)).catch(() => undefined);
  return done;
}

function notKept(folder: string, error: unknown): PoSyncError {
  const reason = error instanceof PoSyncError ? error.message : toError(error).message;
  return new PoSyncError(
    'decision-not-kept',
    `Nothing was done, because it could not be kept in ${folder}: ${reason}`,
    {
      remedy: 'Make that folder writable, with space on its disk, and do it again.',
      facts: { folder },
      cause: error,
    },
  );
}
