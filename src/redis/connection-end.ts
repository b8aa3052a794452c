import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';

// When a connection that would wait for Redis forever ends.

/**
 * After the signal: how often Redis is asked, in milliseconds, and how many times in a row it may not have answered
 * before its connection ends: five seconds. Time alone says nothing about Redis: this process itself may have been stopped.
 */
const ASK_EVERY = 250;
const UNANSWERED = 20;

/** How long a command waits for a Redis that refuses its connection, and for one that it lost; a daemon waits longer. Milliseconds. */
export const COMMAND_WAITS = { refusedWithin: 2_000, lostWithin: 10_000 } as const;

/** What ioredis says to commands that wait on a connection that has ended. */
const CONNECTION_ENDED = 'Connection is closed.';

/** Acts at the signal, also where it was given before. */
export function onAbort(signal: AbortSignal | undefined, act: () => Promise<void>): void {
  if (signal?.aborted) void act();
  else signal?.addEventListener('abort', () => void act(), { once: true });
}

/** Resolves when Redis has not answered for some seconds, or the connection has ended. Never rejects, keeps no process alive. */
export async function untilAway(redis: Redis): Promise<void> {
  let unanswered = 0;
  const answered = () => {
    unanswered = 0;
  };
  while (redis.status !== 'end' && unanswered < UNANSWERED) {
    redis.ping().then(answered, () => undefined);
    await delay(ASK_EVERY, undefined, { ref: false });
    unanswered += 1;
  }
}

/** Acts when the connection was lost and nothing works over a new one within `ms`. Keeps no process alive. */
export function onLoss(
  redis: Redis,
  ms: number,
  tryAgain: () => Promise<void>,
  act: () => void,
): void {
  let timer: NodeJS.Timeout | undefined;
  const isBack = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  redis.on('close', () => {
    if (timer !== undefined) return;
    timer = setTimeout(act, ms).unref();
    // It waits for a Redis that is away or takes no writes.
    tryAgain().then(isBack, () => undefined);
  });
  redis.on('end', isBack);
}

/**
 * How long after a restart of Redis the other daemons are waited for, in milliseconds: they try once a second, and then compare
 * the ledger with what they remember.
 */
const OTHERS_BACK = 5_000;

/**
 * `isSteady`: false while the connection is lost, and shortly after it is back from a restart or a failover. A Redis that comes back
 * may have lost what another daemon wrote last, and only that daemon knows: nothing is sent until it has had the time to say so.
 */
export type Steadiness = { isSteady: () => boolean };

/** Watches a connection that is ready. */
export function watchSteadiness(
  redis: Pick<Redis, 'on' | 'info'>,
  clock: Pick<Clock, 'monotonic'>,
): Steadiness {
  let connection = 0;
  let isKnown = true;
  let run: string | undefined;
  /** When this run of Redis was seen first. */
  let since = Number.NEGATIVE_INFINITY;
  const isSteady = () => isKnown && clock.monotonic() - since >= OTHERS_BACK;
  redis.on('close', () => {
    isKnown = false;
    connection += 1;
  });
  redis.on('ready', () => void recognize(clock.monotonic()));
  void recognize(since);
  return { isSteady };

  async function recognize(at: number): Promise<void> {
    const before = connection;
    const found = await runOf(redis);
    if (before !== connection) return;
    if (found === undefined || found !== run) since = at;
    run = found;
    isKnown = true;
  }
}

/** What changes when Redis restarts or another server takes over; undefined where the server does not show it. */
async function runOf(redis: Pick<Redis, 'info'>): Promise<string | undefined> {
  const info = await redis.info().catch(() => '');
  const [run, history] = [
    /^run_id:(\S+)/m.exec(info)?.[1],
    /^master_replid:(\S+)/m.exec(info)?.[1],
  ];
  return run === undefined ? undefined : `${run} ${history ?? ''}`;
}

export const RIGHTS_REMEDY = 'Give it all rights that docs/operations/redis.md lists.';

/** What Redis answers to a command that it does not carry out, and what a person does about it. */
const REPLIES: [RegExp, remedy: string][] = [
  [/\bNOPERM\b/, RIGHTS_REMEDY],
  [/\bOOM\b/, 'Free memory, or raise maxmemory (docs/operations/redis.md).'],
  [/\bMISCONF\b/, 'Redis cannot write its data: its log and the free space of its disk say why.'],
  [
    /^(NOAUTH|WRONGPASS|ERR invalid password)/,
    'Check PO_SYNC_REDIS_PASSWORD_FILE, which contains the path of a file with the password (or PO_SYNC_REDIS_PASSWORD, or the address in PO_SYNC_REDIS_URL), and PO_SYNC_REDIS_USERNAME where the user is not the default one.',
  ],
  [/\bBUSY\b/, 'A script or function keeps Redis busy: find it in the slow log of Redis.'],
];

/** What a person does about an answer of Redis; undefined if only its log may say. */
export function replyRemedy(said: string): string | undefined {
  return REPLIES.find(([reply]) => reply.test(said))?.[1];
}

/**
 * The error of a command whose connection ended, as PoSyncError `redis-unreachable`, or that Redis refused, as `redis-refused`;
 * any other error unchanged.
 */
export function explainRedisError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof PoSyncError) return thrown;
  const remedy = replyRemedy(thrown.message);
  if (remedy !== undefined && thrown.name === 'ReplyError')
    return new PoSyncError(
      'redis-refused',
      `Redis refuses a command: ${withoutStop(thrown.message)}.`,
      {
        remedy,
        cause: thrown,
      },
    );
  if (thrown.message !== CONNECTION_ENDED) return thrown;
  return new PoSyncError(
    'redis-unreachable',
    'Redis was lost while the command ran, and did not come back in time.',
    {
      remedy: 'Run the command again when Redis answers; po-sync doctor shows whether it does.',
      cause: thrown,
    },
  );
}
