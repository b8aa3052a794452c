import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { NotTaken } from '../intake/offers.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Store } from '../redis/store.ts';
import type { Self } from './daemon.ts';

/**
 * A daemon as `status` shows it. `since` is Redis time in milliseconds; `adminPort` is absent for `--once`. `silentMs`: how
 * long it has sent no heartbeat, if one is overdue or its process is gone.
 * `notTaken`: the first files that it could not take for some seconds, or a source, such as an inbox, that it cannot read. `foldersGone`: its folders that vanished.
 * `isUnsteady`: it sends no orders, because its Redis was lost a short time ago.
 */
export type LivingDaemon = Self & {
  host: string;
  since: number;
  adminPort?: number;
  silentMs?: number;
  notTaken?: NotTaken[];
  foldersGone?: GoneFolder[];
  isUnsteady?: true;
};

/** A folder of a daemon that vanished: `data` or `reports`. */
export type GoneFolder = { folder: string; path: string };

/** Milliseconds between two heartbeats. */
export const BEAT = 3_000;
/** A daemon without a heartbeat for this long may have been killed. */
const OVERDUE = 2 * BEAT;
/** A daemon that sent no heartbeat for this long is dead. */
const ALIVE = 10_000;
/** After this time its id is removed too. */
const REMEMBERED = 3_600_000;
/** How many files a heartbeat names. */
const MOST_NOT_TAKEN = 100;

/** What heartbeats say: the admin port once it is open, and what is wrong when one is sent. */
type Said = {
  adminPort: number | undefined;
  notTaken: () => NotTaken[];
  gone: () => GoneFolder[];
};

type HeartbeatDeps = Pick<Store, 'redis' | 'keys' | 'time' | 'isSteady'> & {
  id: string;
  self: Self;
};

/** Publishes that this daemon is alive. Call `beat` every few seconds; disposing withdraws it. */
export function openHeartbeat({ redis, keys, time, isSteady, id, self }: HeartbeatDeps) {
  const facts: LivingDaemon = { ...self, host: hostname(), since: time.now() };
  let said: Said | undefined;
  return {
    says(now: Said): void {
      said = now;
    },
    /** The files that any daemon cannot take, as their heartbeats say. */
    notTaken: async (): Promise<NotTaken[]> => filesNotTaken(await livingDaemons({ redis, keys })),
    async beat(): Promise<void> {
      const now = time.now();
      const adminPort = said?.adminPort;
      const notTaken = said?.notTaken() ?? [];
      const gone = said?.gone() ?? [];
      const beat: LivingDaemon = {
        ...facts,
        ...(adminPort !== undefined && { adminPort }),
        ...(notTaken.length > 0 && { notTaken: notTaken.slice(0, MOST_NOT_TAKEN) }),
        ...(gone.length > 0 && { foldersGone: gone }),
        ...(!isSteady() && { isUnsteady: true }),
      };
      await redis
        .multi()
        .set(keys.daemon(id), JSON.stringify(beat), 'PX', ALIVE)
        .zadd(keys.daemons, now, id)
        .zremrangebyscore(keys.daemons, '-inf', now - REMEMBERED)
        .exec();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      // While Redis is unreachable the key expires.
      if (redis.status === 'ready')
        await redis.multi().del(keys.daemon(id)).zrem(keys.daemons, id).exec();
    },
  };
}

/** The daemons of the environment that are alive, oldest first; those that may have ended come last. */
export async function livingDaemons({
  redis,
  keys,
}: {
  redis: Redis;
  keys: Keys;
}): Promise<LivingDaemon[]> {
  const ids = await redis.zrange(keys.daemons, 0, '-1');
  if (ids.length === 0) return [];
  const [texts, left] = await Promise.all([
    redis.mget(ids.map((id) => keys.daemon(id))),
    Promise.all(ids.map((id) => redis.pttl(keys.daemon(id)))),
  ]);
  const alive = texts.flatMap((text, at) => {
    if (text === null) return [];
    const daemon = JSON.parse(text) as LivingDaemon;
    const silentMs = Math.max(ALIVE - (left[at] ?? ALIVE), 0);
    return [{ ...daemon, ...((silentMs > OVERDUE || isGone(daemon)) && { silentMs }) }];
  });
  return alive.sort((a, b) => Number(isBeating(b)) - Number(isBeating(a)) || a.since - b.since);
}

/** The daemon on this machine that has this admin port. */
export async function holderOf(port: number, place: { redis: Redis; keys: Keys }) {
  const daemons = await livingDaemons(place);
  return daemons.find(({ host, adminPort }) => host === hostname() && adminPort === port);
}

/** The files that any of these daemons cannot take, each once. */
export function filesNotTaken(daemons: readonly Pick<LivingDaemon, 'notTaken'>[]): NotTaken[] {
  const all = daemons.flatMap(({ notTaken = [] }) => notTaken);
  return [...new Map(all.map((one) => [`${one.source}:${one.file}`, one])).values()];
}

/** `1 running, 1 may have ended`: the heartbeat of a daemon that was killed stays for some seconds. */
export function daemonCounts(daemons: readonly LivingDaemon[]): string {
  const beating = daemons.filter(isBeating).length;
  const parts = [
    [beating, 'running'],
    [daemons.length - beating, 'may have ended'],
  ];
  return parts.flatMap(([number, text]) => (number === 0 ? [] : [`${number} ${text}`])).join(', ');
}

/** Whether no heartbeat of it is overdue. */
export function isBeating({ silentMs }: Pick<LivingDaemon, 'silentMs'>): boolean {
  return silentMs === undefined;
}

/** Whether its process is missing, as far as this machine can see: after `kill -9` nobody withdraws the heartbeat. */
function isGone({ host, pid }: LivingDaemon): boolean {
  return host === hostname() && existsSync('/proc/self') && !existsSync(`/proc/${pid}`);
}
