import type { Clock } from '../core/clock.ts';
import type { Redis } from './connect.ts';
import type { Keys } from './keys.ts';
import { readScript, runScript } from './script.ts';

/**
 * Ledger time, shared by all daemons: the clock of Redis without its steps. Clocks of hosts are never compared.
 * A step of Redis' clock, a failover to a server whose clock differs, and a corrected clock change nothing here.
 */
export type RedisTime = {
  /** Milliseconds since 1970, estimated since the last `sync`. */
  now(): number;
  /** Reads the clock again, and removes a step of it. Call it about once a second and after a reconnect. */
  sync(): Promise<void>;
  /**
   * How long this process has watched ledger time, in milliseconds. A wait that began before may be shorter than it
   * seems: nobody measured the clock meanwhile.
   */
  watched(): number;
};

/** An answer that took longer than this (milliseconds) can be wrong by half of it, so it is read again. */
const TRUSTED = 500;
const TRIES = 5;

/** Redis' clock may run ahead of ours by this much before it counts as a step: milliseconds, and a share of the time. */
const TOLERANCE = 250;
const DRIFT = 0.001;

/** While a daemon runs, ledger time is read at least this often, and its heartbeat is at most this old. Milliseconds. */
const UNREAD = 1_500;
const HEARTBEAT = 5_000;
const POLL = 100;

/** Two clocks of this machine: one stops while the machine is suspended, the other is coarse. Milliseconds. */
type Moment = { steady: number; boot: number };

/** Ledger time as Redis said it, somewhere between two moments of this process; when the last step was taken out. */
type Reading = { at: number; steps: number; stepAt: number; asked: Moment; answered: Moment };

/** Reads ledger time and continues it with the monotonic clock. */
export async function createRedisTime(
  redis: Redis,
  keys: Pick<Keys, 'identity' | 'due' | 'doubt' | 'rebuild' | 'daemons'>,
  clock: Clock,
): Promise<RedisTime> {
  const script = readScript(new URL('./clock.lua', import.meta.url));
  const used = [keys.identity, keys.due, keys.doubt, keys.rebuild];
  const moment = (): Moment => ({ steady: clock.monotonic(), boot: clock.sinceBoot() });
  const began = clock.monotonic();
  let known = await readFirst();

  async function read(steps = 0, ahead = 0): Promise<Reading> {
    const asked = moment();
    const answer = (await runScript(redis, script, used, [steps, ahead])) as [
      string,
      number,
      string,
    ];
    return {
      at: Number(answer[0]),
      steps: answer[1],
      stepAt: Number(answer[2]),
      asked,
      answered: moment(),
    };
  }

  async function readWell(): Promise<Reading> {
    let best = await read();
    for (let tries = 1; tries < TRIES && roundTrip(best) > TRUSTED; tries += 1) {
      const next = await read();
      if (roundTrip(next) < roundTrip(best)) best = next;
    }
    return best;
  }

  /**
   * A process that begins right after a step of Redis' clock cannot see it. A daemon that runs takes the step out within a
   * second: until then, ledger time is ahead of what others have read.
   */
  async function readFirst(): Promise<Reading> {
    const last = Number((await redis.hget(keys.identity, 'last')) ?? 0);
    const first = await readWell();
    if (last === 0 || first.at - last < UNREAD || !(await ranAt(last))) return first;
    const until = clock.monotonic() + UNREAD;
    while (clock.monotonic() < until) {
      await clock.sleep(POLL);
      if ((await read()).steps > first.steps) break;
    }
    return readWell();
  }

  /** Whether a daemon sent a heartbeat shortly before. One that ended properly did not. */
  async function ranAt(last: number): Promise<boolean> {
    const [, heartbeat = '0'] = await redis.zrange(keys.daemons, '-1', '-1', 'WITHSCORES');
    return Number(heartbeat) > last - HEARTBEAT;
  }

  async function sync(): Promise<void> {
    const reading = await readWell();
    const ahead = stepBetween(known, reading);
    known = ahead > 0 ? await read(reading.steps, ahead) : reading;
  }

  return {
    now: () =>
      Math.round(known.at + clock.monotonic() - (known.asked.steady + known.answered.steady) / 2),
    sync,
    watched: () => clock.monotonic() - began,
  };
}

function roundTrip({ asked, answered }: Reading): number {
  return answered.steady - asked.steady;
}

/** How far Redis' clock jumped ahead between two readings, by the clocks of this machine; 0 where it did not. */
function stepBetween(before: Reading, after: Reading): number {
  const [longest, shortest] = [
    span(before.asked, after.answered),
    span(before.answered, after.asked),
  ];
  // When another daemon removed a step meanwhile, its result counts, and the time since then is not known.
  const [from, least] = after.steps > before.steps ? [after.stepAt, 0] : [before.at, shortest];
  if (after.at - from <= longest + TOLERANCE + DRIFT * longest) return 0;
  // Prefers too much to too little: a wait may take longer, never shorter.
  return Math.ceil(after.at - from - least);
}

function span(from: Moment, to: Moment): number {
  return Math.max(to.steady - from.steady, to.boot - from.boot);
}
