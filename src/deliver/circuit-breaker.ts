import type { Clock } from '../core/clock.ts';
import { deliveryPaused, deliveryResumed } from '../events/delivery.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Context, Store } from '../redis/store.ts';

/**
 * Why delivery of an environment is paused. `code` is stable; a pause that is `held` ends only by a person or a task,
 * any other by itself: one order tries at `nextTryAt`. Times are milliseconds of Redis' clock.
 */
export type Pause = { code: string; reason: string; since: number; held: boolean; nextTryAt?: number };

/** `probe`: the breaker is half-open, and this one order tries whether the API accepts orders again. */
export type Pass = 'closed' | 'probe' | 'stopped';

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type CircuitBreakerDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  probe: { initial: number; max: number };
  onPaused(pause: Pause): void;
  onResumed(pause: Pause, until: number): void;
};

/** The hold of an operator who paused delivery. */
export const OPERATOR = 'operator';

/** How old a daemon's knowledge of the breaker may be, in milliseconds. An intent is checked against holds in Redis. */
const REFRESH = 500;
/** Begins the name of a hold's field. */
const HOLD = 'hold:';

/**
 * The circuit breaker of one environment, shared by all daemons. What says nothing about an order trips it; then one
 * order at a time tries, with growing waits, and the first success resets it. A hold stops every order until it is released.
 */
export function createCircuitBreaker({ store, clock, probe, onPaused, onResumed }: CircuitBreakerDeps) {
  const { redis, keys, time } = store;
  const script = readScript(new URL('./circuit-breaker.lua', import.meta.url));
  let pause: Pause | undefined;
  let clearAnswers = false;
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
      else if (pause === undefined) return 'closed';
      else if (!pause.held && (await winProbe())) return 'probe';
      else await clock.sleep(REFRESH, signal);
    }
  }

  async function refresh(force = false): Promise<void> {
    if (!force && clock.monotonic() - lookedAt < REFRESH) return;
    // Callers that arrive meanwhile share this answer and never use an older one.
    looking = force || looking === undefined ? look() : looking;
    await looking;
  }

  async function look(): Promise<void> {
    try {
      const fields = await redis.hgetall(keys.breaker);
      lookedAt = clock.monotonic();
      slowUntil = Number(fields['slowUntil'] ?? 0);
      clearAnswers = fields['clearAnswers'] !== undefined;
      acceptedAt = Math.max(acceptedAt, Number(fields['acceptedAt'] ?? 0));
      see(decode(fields));
    } finally {
      looking = undefined;
    }
  }

  function see(seen: typeof pause): void {
    const before = pause;
    pause = seen;
    if (before === undefined && seen) onPaused(seen);
    if (before && seen === undefined) onResumed(before, time.now());
  }

  function run(verb: string, ...values: (string | number)[]): Promise<unknown> {
    return runScript(redis, script, [keys.breaker, keys.pauses], [verb, time.now(), ...values]);
  }

  async function winProbe(): Promise<boolean> {
    return (await run('probe', probe.initial, probe.max)) === 1;
  }

  /** Pauses delivery; the first order tries after `wait` milliseconds. While it is paused only the reason and a longer wait count. */
  async function trip(code: string, reason: string, wait = probe.initial): Promise<void> {
    await run('trip', wait, code, reason);
    await refresh(true);
  }

  /** The API accepted an order; other daemons learn of it at most every half second. */
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

  /** An order got through: delivery resumes for every daemon. */
  async function reset(): Promise<void> {
    if (pause === undefined) return;
    await run('reset');
    await refresh(true);
  }

  /** A person does not want to wait: one order tries at once. False when nothing waited. */
  async function lift(): Promise<boolean> {
    await refresh(true);
    const waited = slowUntil > time.now();
    const lifted = (await run('lift', probe.initial)) === 1;
    await refresh(true);
    return waited || lifted;
  }

  /** The list showed whether success answers without an envelope mean that the order was created. */
  async function learnAnswers(areClear: boolean): Promise<void> {
    if (areClear) await redis.hset(keys.breaker, { clearAnswers: 1 });
    else await redis.hdel(keys.breaker, 'clearAnswers');
    clearAnswers = areClear;
  }

  /** Pauses delivery until `release` with the same code; no order tries meanwhile. */
  async function hold(code: string, reason: string): Promise<void> {
    const before = (await redis.hget(keys.breaker, `${HOLD}${code}`)) ?? undefined;
    const since = before === undefined ? time.now() : (JSON.parse(before) as Hold).since;
    await redis.hset(keys.breaker, `${HOLD}${code}`, JSON.stringify({ code, reason, since } satisfies Hold));
    await refresh(true);
  }

  /** Ends a hold; false when there was none. */
  async function release(code: string): Promise<boolean> {
    const before = await redis.hget(keys.breaker, `${HOLD}${code}`);
    if (before === null || (await redis.hdel(keys.breaker, `${HOLD}${code}`)) === 0) return false;
    const { reason, since } = JSON.parse(before) as Hold;
    await redis.lpush(keys.pauses, JSON.stringify({ code, reason, from: since, to: time.now() } satisfies PastPause));
    await refresh(true);
    return true;
  }

  /** Every reason why delivery pauses now; holds first. */
  async function reasons(): Promise<Pause[]> {
    const fields = await redis.hgetall(keys.breaker);
    const holds = Object.keys(fields).filter((name) => name.startsWith(HOLD));
    const bySelf = decode(Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(HOLD))));
    return [
      ...holds.map((name) => ({ ...(JSON.parse(fields[name] ?? '{}') as Hold), held: true })),
      ...(bySelf === undefined ? [] : [bySelf]),
    ];
  }

  /** No order is sent for so many milliseconds; a longer wait stays. */
  async function slowDown(ms: number): Promise<void> {
    await run('slow', time.now() + ms);
    await refresh(true);
  }

  /** The pauses that overlap a span of time, latest first, including a current one. */
  async function during(from: number, to: number): Promise<PastPause[]> {
    await refresh(true);
    const texts = await redis.lrange(keys.pauses, 0, -1);
    const past = texts
      .map((text) => JSON.parse(text) as PastPause)
      .filter((one) => one.from <= to && (one.to ?? to) >= from);
    if (pause === undefined || pause.since > to) return past;
    return [{ code: pause.code, reason: pause.reason, from: pause.since, to: undefined }, ...past];
  }

  return {
    pass,
    trip,
    reset,
    lift,
    accepted,
    acceptedSince,
    learnAnswers,
    answersAreClear: () => clearAnswers,
    hold,
    release,
    reasons,
    slowDown,
    refresh,
    during,
    /** Why delivery is paused now, as far as known. */
    current: (): Pause | undefined => pause,
  };
}

/** The breaker of the configured environment, which logs when a pause begins and ends. */
export function createEnvironmentBreaker({ config, store, clock, log }: Context): CircuitBreaker {
  const { environment, delivery } = config;
  return createCircuitBreaker({
    store,
    clock,
    probe: delivery.probe,
    onPaused: ({ code, reason }) => deliveryPaused(log, { environment, code, reason }),
    onResumed: ({ code, since }, until) => deliveryResumed(log, { environment, code, durationMs: until - since }),
  });
}

/** What the field of a hold keeps. */
type Hold = { code: string; reason: string; since: number };

/** A pause with its end; without `to` it continues. */
export type PastPause = { code: string; reason: string; from: number; to: number | undefined };

/** A hold comes before what ends by itself. */
function decode(fields: Record<string, string>): Pause | undefined {
  const hold = Object.keys(fields).find((name) => name.startsWith(HOLD));
  if (hold !== undefined) return { ...(JSON.parse(fields[hold] ?? '{}') as Hold), held: true };
  const { code, reason = '', since = '0', probeAt = '0' } = fields;
  return code === undefined
    ? undefined
    : { code, reason, since: Number(since), held: false, nextTryAt: Number(probeAt) };
}
