import type { Clock } from '../core/clock.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { readScript, runScript } from '../redis/script.ts';

/** Why delivery of an environment pauses; `code` is stable, a hold does not end by itself. Times are Redis milliseconds. */
export type Pause = { code: string; reason: string; since: number };

/** `probe`: delivery pauses, and this one order goes ahead to see whether it may go on. */
export type Pass = 'open' | 'probe' | 'stopped';

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type GateDeps = {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: RedisTime;
  probe: { initial: number; max: number };
  onPaused(pause: Pause): void;
  onResumed(pause: Pause, until: number): void;
};

/** The hold of an operator who said pause. */
export const OPERATOR = 'operator';

/** How old a daemon's knowledge of the gate may be. */
const REFRESH = 500;
/** Begins the name of a hold's field. */
const HOLD = 'hold:';

/**
 * The pause of one environment's delivery, shared by all daemons. Closed by what says nothing of an order;
 * while it is closed one order at a time tries, with growing waits, and the first that gets through opens it.
 */
export function createCircuitBreaker(deps: GateDeps) {
  const { redis, keys, clock, time } = deps;
  const script = readScript(new URL('./circuit-breaker.lua', import.meta.url));
  let pause: (Pause & { held: boolean }) | undefined;
  let slowUntil = 0;
  let acceptedAt = 0;
  let acceptedTold = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  /** Waits until an order may be sent. */
  async function pass(signal: AbortSignal): Promise<Pass> {
    for (;;) {
      if (signal.aborted) return 'stopped';
      await refresh();
      const wait = slowUntil - time.now();
      if (wait > 0) await clock.sleep(Math.min(wait, REFRESH), signal);
      else if (pause === undefined) return 'open';
      else if (!pause.held && (await winProbe())) return 'probe';
      else await clock.sleep(REFRESH, signal);
    }
  }

  async function refresh(force = false): Promise<void> {
    if (!force && clock.monotonic() - lookedAt < REFRESH) return;
    // Whoever comes meanwhile waits for the same answer, and never goes by an old one.
    looking = force || looking === undefined ? look() : looking;
    await looking;
  }

  async function look(): Promise<void> {
    try {
      const fields = await redis.hgetall(keys.breaker);
      lookedAt = clock.monotonic();
      slowUntil = Number(fields['slowUntil'] ?? 0);
      acceptedAt = Math.max(acceptedAt, Number(fields['acceptedAt'] ?? 0));
      see(decode(fields));
    } finally {
      looking = undefined;
    }
  }

  function see(seen: typeof pause): void {
    const before = pause;
    pause = seen;
    if (before === undefined && seen) deps.onPaused(seen);
    if (before && seen === undefined) deps.onResumed(before, time.now());
  }

  async function winProbe(): Promise<boolean> {
    const { initial, max } = deps.probe;
    return (await runScript(redis, script, [keys.breaker, keys.pauses], ['probe', time.now(), initial, max])) === 1;
  }

  /** Pauses delivery. While it pauses already only the reason is kept up. */
  async function close(code: string, reason: string): Promise<void> {
    await runScript(
      redis,
      script,
      [keys.breaker],
      ['close', time.now(), deps.probe.initial, deps.probe.max, code, reason],
    );
    await refresh(true);
  }

  /** The API accepted an order; other daemons learn it now and then. */
  async function accepted(): Promise<void> {
    acceptedAt = time.now();
    if (acceptedAt - acceptedTold < REFRESH) return;
    acceptedTold = acceptedAt;
    await redis.hset(keys.breaker, { acceptedAt });
  }

  /** Whether the API accepted any order since then, as far as known here. */
  async function acceptedSince(at: number): Promise<boolean> {
    await refresh(true);
    return acceptedAt > at;
  }

  /** Something got through: delivery goes on for everybody. */
  async function open(): Promise<void> {
    if (pause === undefined) return;
    await runScript(redis, script, [keys.breaker, keys.pauses], ['open', time.now()]);
    await refresh(true);
  }

  /** Pauses delivery until `release` with the same code; no order tries meanwhile. */
  async function hold(code: string, reason: string): Promise<void> {
    const before = (await redis.hget(keys.breaker, `${HOLD}${code}`)) ?? undefined;
    const since = before === undefined ? time.now() : (JSON.parse(before) as Pause).since;
    await redis.hset(keys.breaker, `${HOLD}${code}`, JSON.stringify({ code, reason, since } satisfies Pause));
    await refresh(true);
  }

  /** Ends a hold; false when there was none. */
  async function release(code: string): Promise<boolean> {
    const before = await redis.hget(keys.breaker, `${HOLD}${code}`);
    if (before === null || (await redis.hdel(keys.breaker, `${HOLD}${code}`)) === 0) return false;
    const { reason, since } = JSON.parse(before) as Pause;
    await redis.lpush(keys.pauses, JSON.stringify({ code, reason, from: since, to: time.now() } satisfies PastPause));
    await refresh(true);
    return true;
  }

  /** Every reason why delivery pauses now; holds first. */
  async function reasons(): Promise<(Pause & { held: boolean })[]> {
    const fields = await redis.hgetall(keys.breaker);
    const holds = Object.keys(fields).filter((name) => name.startsWith(HOLD));
    const bySelf = decode(Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(HOLD))));
    return [
      ...holds.map((name) => ({ ...(JSON.parse(fields[name] ?? '{}') as Pause), held: true })),
      ...(bySelf === undefined ? [] : [bySelf]),
    ];
  }

  /** Nobody calls for so many milliseconds; a longer wait that is already on stays. */
  async function slowDown(ms: number): Promise<void> {
    await runScript(redis, script, [keys.breaker, keys.pauses], ['slow', time.now() + ms]);
    await refresh(true);
  }

  /** The pauses that touch a span of time, the latest first, one still going on with them. */
  async function during(from: number, to: number): Promise<PastPause[]> {
    await refresh(true);
    const texts = await redis.lrange(keys.pauses, 0, -1);
    const past = texts
      .map((text) => JSON.parse(text) as PastPause)
      .filter((one) => one.from <= to && (one.to ?? to) >= from);
    if (pause === undefined || pause.since > to) return past;
    return [{ code: pause.code, reason: pause.reason, from: pause.since, to: undefined }, ...past];
  }

  const current = (): Pause | undefined => pause;
  return { pass, close, accepted, acceptedSince, open, hold, release, reasons, slowDown, refresh, during, current };
}

/** A pause with its end; no `to`: it goes on. */
export type PastPause = { code: string; reason: string; from: number; to: number | undefined };

/** Holds stand before what opens by itself. */
function decode(fields: Record<string, string>): (Pause & { held: boolean }) | undefined {
  const hold = Object.keys(fields).find((name) => name.startsWith(HOLD));
  if (hold !== undefined) return { ...(JSON.parse(fields[hold] ?? '{}') as Pause), held: true };
  const { code, reason = '', since = '0' } = fields;
  return code === undefined ? undefined : { code, reason, since: Number(since), held: false };
}
