import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { Network } from '../config/network.ts';
import type { AdminTokens, Secrets } from '../config/secrets.ts';
import type { Clock } from '../core/clock.ts';
import { type CircuitBreaker, OPERATOR } from '../deliver/circuit-breaker.ts';
import type { NotTaken } from '../intake/offers.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import type { NoticeSurroundings } from '../notify/notices.ts';
import type { ReceiverTrouble } from '../notify/outbox.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';

/** What a daemon is built from. */
export type DaemonInput = {
  config: Config;
  secrets: Secrets;
  /** Absent: directly to everything. */
  network?: Network;
  /** Absent: none. */
  adminTokens?: AdminTokens;
  clock: Clock;
  log: Log;
  self: Self;
  /** Stops waiting for a Redis that is loading its data. */
  signal?: AbortSignal;
  /** Keeps a value out of the log. */
  hide?: (secret: string) => void;
  /** Called with each batch that was settled here, how many of its orders need a person, and how many have no number. */
  onSettled?: (batch: Batch, needPerson: number, nameless?: number) => void;
  /** What notices may use of the process. */
  notices?: NoticeSurroundings;
  /** `--once` serves no admin port. */
  admin: boolean;
};

/** An open daemon; disposing hands back its unfinished work. */
export type Daemon = AsyncDisposable &
  Backlog & {
    adminPort: number | undefined;
    /** Watches the sources from now on. */
    watch(): Promise<void>;
    /** Takes the files present now; resolves when each is claimed, with those that cannot be taken. Never rejects. */
    takePresent(): Promise<NotTaken[]>;
    /** The loop that has not ended a round for too long, for a watchdog. */
    stuck(): string | undefined;
    /** Aborts with the error that ends this daemon: a newer version has changed the format of the ledger. */
    outdated: AbortSignal;
  };

/** The daemon's own process. `role`: the one side that it serves; absent: both. */
export type Self = { pid: number; version: string; role?: Role };

/** `intake` takes files, admits their orders and writes reports. `delivery` calls the API. */
export type Role = 'intake' | 'delivery';

/**
 * A daemon as `status` shows it. `since` is Redis time in milliseconds; `adminPort` is absent for `--once`. `silentMs`: how
 * long it has sent no heartbeat, if one is overdue or its process is gone. `notices`: receivers that did not accept their last notice.
 * `notTaken`: the first files that it could not take for some seconds. `foldersGone`: its folders that vanished.
 */
export type LivingDaemon = Self & {
  host: string;
  since: number;
  adminPort?: number;
  silentMs?: number;
  notices?: ReceiverTrouble[];
  notTaken?: NotTaken[];
  foldersGone?: GoneFolder[];
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
  notices: () => ReceiverTrouble[];
  notTaken: () => NotTaken[];
  gone: () => GoneFolder[];
};

type HeartbeatDeps = { redis: Redis; keys: Keys; time: RedisTime; id: string; self: Self };

/** Publishes that this daemon is alive. Call `beat` every few seconds; disposing withdraws it. */
export function openHeartbeat({ redis, keys, time, id, self }: HeartbeatDeps) {
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
      const [adminPort, notices, notTaken] = [said?.adminPort, said?.notices() ?? [], said?.notTaken() ?? []];
      const gone = said?.gone() ?? [];
      const beat: LivingDaemon = {
        ...facts,
        ...(adminPort !== undefined && { adminPort }),
        ...(notices.length > 0 && { notices }),
        ...(notTaken.length > 0 && { notTaken: notTaken.slice(0, MOST_NOT_TAKEN) }),
        ...(gone.length > 0 && { foldersGone: gone }),
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
      if (redis.status === 'ready') await redis.multi().del(keys.daemon(id)).zrem(keys.daemons, id).exec();
    },
  };
}

/** The daemons of the environment that are alive, oldest first. */
export async function livingDaemons({ redis, keys }: { redis: Redis; keys: Keys }): Promise<LivingDaemon[]> {
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
  return alive.sort((a, b) => a.since - b.since);
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

type BacklogDeps = {
  ledger: Ledger;
  batches: Batches;
  breaker: CircuitBreaker;
  /** How many files are being read now. */
  reading: () => number;
};

export type Backlog = ReturnType<typeof createBacklog>;

/** The remaining work of all daemons of an environment. */
export function createBacklog({ ledger, batches, breaker, reading }: BacklogDeps) {
  /**
   * How many files, orders, batches and reports are not finished. They are counted one after the other, in the order in
   * which work passes on: what leaves one count meanwhile is in a later one.
   */
  async function unfinished(): Promise<number> {
    const files = reading();
    const orders = await ledger.unsettled();
    const underWay = await batches.underWay();
    const reports = await batches.toRefresh();
    return files + orders + underWay.length + reports.length;
  }

  /** Why nothing continues without a person: an operator paused delivery, or only held batches are left. */
  async function waitsForPerson(): Promise<string | undefined> {
    const pause = breaker.current();
    if (pause?.code === OPERATOR) return pause.reason;
    const underWay = await batches.underWay();
    // The file of a held batch may be read only in part.
    const partlyRead = underWay.filter(({ state }) => state === 'reading').length;
    const onlyHeld = underWay.length > 0 && underWay.every(({ held }) => held !== undefined) && reading() <= partlyRead;
    return onlyHeld ? underWay[0]?.held?.reason : undefined;
  }

  return {
    unfinished,
    waitsForPerson,
    underWay: batches.underWay,
    find: batches.find,
    /** Why delivery is paused now, as far as this daemon knows. */
    pause: breaker.current,
  };
}

/** Why a run of `--once` ended: nothing is left, a person must decide, the maximum wait is over, or a signal. */
export type End = 'done' | 'held' | 'waited' | 'interrupted';

/** Milliseconds between two checks of whether the run is done. */
const LOOK_AGAIN = 100;

/** Waits until the daemon has nothing left that it can do without a person, at most `maxWait` milliseconds. */
export async function runUntilDone(
  daemon: Daemon,
  maxWait: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ end: End; notTaken: NotTaken[] }> {
  const until = clock.monotonic() + maxWait;
  let notTaken: NotTaken[] | undefined;
  void daemon.takePresent().then((left) => {
    notTaken = left;
  });
  const ended = (end: End) => ({ end, notTaken: notTaken ?? [] });
  while (!signal.aborted) {
    daemon.outdated.throwIfAborted();
    if (notTaken && (await daemon.unfinished()) === 0) return ended('done');
    if (notTaken && (await daemon.waitsForPerson()) !== undefined) return ended('held');
    if (clock.monotonic() >= until) return ended('waited');
    await clock.sleep(LOOK_AGAIN, signal);
  }
  return ended('interrupted');
}
