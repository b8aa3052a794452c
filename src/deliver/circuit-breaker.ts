import type { Clock } from '../core/clock.ts';
import type { PauseCause } from '../ledger/pause-cause.ts';
import { deliveryPaused, deliveryResumed, pauseChanged } from '../log/events/delivery.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Context, Store } from '../redis/store.ts';
import { pauseText } from '../wording/pause.ts';
import {
  allPauses,
  type BreakerView,
  createBreakerView,
  HOLD_KNOWN,
  type Hold,
  holdField,
  type Pause,
  REFRESH,
} from './breaker-view.ts';

/** `probe`: this one order tests whether the API accepts orders again, after a pause or a slow-down. */
export type Pass = 'closed' | 'probe' | 'stopped';

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type CircuitBreakerDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  /** Milliseconds to the first try, and the longest wait between two tries. */
  probe: { initial: number; max: number };
  /** `before`: delivery was paused for another reason until now. */
  onPaused(pause: Pause, before?: Pause): void;
  onResumed(pause: Pause, until: number): void;
};

/** Milliseconds since the last accepted order in which a daemon that starts finds delivery at work. */
const JUST_NOW = 2_000;

/**
 * The circuit breaker of one environment, shared by all daemons. Failures that say nothing about an order trip it. Then one
 * order at a time is tried, with growing waits, and the first success resets it. A hold stops every order until it is released.
 */
export function createCircuitBreaker(deps: CircuitBreakerDeps) {
  const view = createBreakerView(deps);
  const run = createBreakerScript(deps);

  /** Changes the breaker in Redis and reads it again. */
  async function change(verb: Verb, more: Asked = {}): Promise<boolean> {
    const answer = await run(verb, more);
    await view.refresh(true);
    return answer === 1;
  }

  const { pass, stillPasses, slowUntil, wake, wakeNext } = createPasses(deps, view, () =>
    run('probe'),
  );

  return {
    pass,
    stillPasses,
    sawNoHold: view.sawNoHold,
    /** Pauses delivery; the first order tries after `wait` milliseconds. While it is paused only the reason and a longer wait count. */
    trip: ({ code, facts }: PauseCause, wait = deps.probe.initial) =>
      change('trip', { wait, code, facts: JSON.stringify(facts) }),
    /** An order got through: delivery resumes for every daemon. */
    reset: async () =>
      void (
        (view.current() !== undefined || view.isOnTrial()) &&
        (await change('reset').then(wake))
      ),
    /** No order is sent for this many milliseconds, then one at a time until one gets through; a longer wait stays. */
    slowDown: (ms: number) => change('slow', { until: deps.store.time.now() + ms }),
    /** A person ends the wait: one order is tried at once. False when nothing waited. */
    async lift(): Promise<boolean> {
      await view.refresh(true);
      const isSlow = slowUntil() > deps.store.time.now();
      return (await change('lift')) || isSlow;
    },
    /** Whether the order of a probe may begin now: the one before it began at least 250 ms ago. Call it directly before the intent. */
    probeMayBegin: async () => (await run('begin')) === 1,
    /** The order of a probe needed no attempt any more: the next one tries at once. */
    passOn: () => run('unused').then(wakeNext),
    refresh: view.refresh,
    troubles: view.troubles,
    current: view.current,
    turn: view.turn,
    /** Until when the API asked every order to wait, as far as known; 0: never. ledger time in milliseconds. */
    slowUntil,
    ...createAcceptances(deps, view, () => run('lift')),
    ...createHolds(deps, view, () => run('try')),
  };
}

/** What lets orders pass, at first and after a wait with their intent. */
function createPasses(
  { store, clock }: CircuitBreakerDeps,
  view: BreakerView,
  tryAsProbe: () => Promise<unknown>,
) {
  let opened = new AbortController();
  const waiting = new Set<AbortController>();

  /** Delivery resumes here: every waiter is woken. */
  function wake(): void {
    opened.abort();
    opened = new AbortController();
  }

  /** Hundreds of cancelled orders may be in hand: each hands its try on without the wait of the next one. */
  function wakeNext(): void {
    const [next] = waiting;
    next?.abort();
  }

  /** Waits for a while, or until it is woken. */
  async function rest(ms: number, signal: AbortSignal): Promise<void> {
    const own = new AbortController();
    waiting.add(own);
    await clock.sleep(ms, AbortSignal.any([signal, opened.signal, own.signal]));
    waiting.delete(own);
  }

  /** Waits until this order may be sent. */
  async function pass(signal: AbortSignal, number = ''): Promise<Pass> {
    for (;;) {
      if (signal.aborted) return 'stopped';
      await view.refresh();
      const pause = view.pauseOf(number);
      const wait = slowUntil() - store.time.now();
      const isClosed = pause === undefined && !view.isOnTrial();
      if (wait <= 0 && isClosed) return 'closed';
      if (wait <= 0 && pause?.held !== true && (await tryAsProbe()) === 1) return 'probe';
      await rest(wait > 0 ? Math.min(wait, REFRESH) : REFRESH, signal);
    }
  }

  /** Whether an order that passed and then waited may still be written. */
  async function stillPasses(pass: Pass, number = ''): Promise<boolean> {
    await view.seeHolds();
    const pause = view.pauseOf(number);
    if (pass === 'probe') return pause?.held !== true;
    return pause === undefined && !view.isOnTrial();
  }

  function slowUntil(): number {
    return Number(view.field('slowUntil') ?? 0);
  }

  return { pass, stillPasses, slowUntil, wake, wakeNext };
}

/** When the API accepted an order last, and what the list showed about answers that do not say. */
function createAcceptances(
  { store }: CircuitBreakerDeps,
  view: BreakerView,
  lift: () => Promise<unknown>,
) {
  const { redis, keys, time } = store;
  let acceptedAt = 0;
  let sharedAt = 0;

  return {
    /**
     * A daemon starts: unless the API accepts orders right now, all daemons together try one at a time at first. A pause
     * for want of a token ends with the next order when the daemon has one: its credentials may be new.
     */
    async start(hasToken: boolean): Promise<void> {
      await view.refresh(true);
      if (hasToken && /^token-(refused|unavailable)$/.test(view.field('code') ?? '')) await lift();
      if (time.now() - Number(view.field('acceptedAt') ?? 0) < JUST_NOW) return;
      await redis.hsetnx(keys.breaker, 'trialAt', time.now());
      await view.refresh(true);
    },
    /** The API accepted an order; other daemons learn of it at most every half second. */
    async accepted(): Promise<void> {
      acceptedAt = time.now();
      if (acceptedAt - sharedAt < REFRESH) return;
      sharedAt = acceptedAt;
      await redis.hset(keys.breaker, { acceptedAt });
    },
    /** Whether the API accepted any order since then, as far as known here. */
    async acceptedSince(at: number): Promise<boolean> {
      await view.refresh(true);
      return Math.max(acceptedAt, Number(view.field('acceptedAt') ?? 0)) > at;
    },
    /** The list showed whether success answers without an envelope mean that the order was created. */
    async learnAnswers(areClear: boolean): Promise<void> {
      if (areClear) await redis.hset(keys.breaker, { clearAnswers: 1 });
      else await redis.hdel(keys.breaker, 'clearAnswers');
      await view.refresh(true);
    },
    answersAreClear: (): boolean => view.field('clearAnswers') !== undefined,
  };
}

/** What happens to the breaker, and what its script has to know of that. */
type Verb = 'reset' | 'slow' | 'try' | 'begin' | 'unused' | 'lift' | 'trip' | 'probe';
type Asked = { until?: number; wait?: number; code?: string; facts?: string };

function createBreakerScript({ store: { redis, keys, time }, probe }: CircuitBreakerDeps) {
  const script = readScript(new URL('./circuit-breaker.lua', import.meta.url));
  return (verb: Verb, more: Asked = {}): Promise<unknown> => {
    const asked = JSON.stringify({ ...probe, ...more, verb, now: time.now() });
    return runScript(redis, script, [keys.breaker, keys.pauses], [asked]);
  };
}

/** The breaker of the configured environment, which logs when a pause begins, changes its reason and ends. */
export function createEnvironmentBreaker({ config, store, clock, log }: Context): CircuitBreaker {
  const { environment, delivery } = config;
  return createCircuitBreaker({
    store,
    clock,
    probe: delivery.probe,
    onPaused: (pause, before) => {
      const facts = { environment, code: pause.code, reason: pauseText(pause) };
      if (before === undefined) deliveryPaused(log, facts);
      else pauseChanged(log, { ...facts, formerCode: before.code });
    },
    onResumed: (pause, until) => {
      const { code, since } = pause;
      const durationMs = until - since;
      deliveryResumed(log, { environment, code, reason: pauseText(pause), durationMs });
    },
  });
}

/** A pause with its end; without `to` it continues. */
type PastPause = PauseCause & { from: number; to: number | undefined };

/** Pauses that a person or a task begins and ends, and the record of all pauses. */
function createHolds(
  { store, clock }: CircuitBreakerDeps,
  view: BreakerView,
  startTrial: () => Promise<unknown>,
) {
  const { redis, keys, time } = store;

  /** Pauses delivery until `release` with the same code; when it resolves, no daemon writes the first byte of an order. */
  async function hold(cause: PauseCause): Promise<void> {
    const field = holdField(cause.code);
    const before = (await redis.hget(keys.breaker, field)) ?? undefined;
    const since = before === undefined ? time.now() : (JSON.parse(before) as Hold).since;
    await redis.hset(keys.breaker, field, JSON.stringify({ ...cause, since } satisfies Hold));
    await clock.sleep(HOLD_KNOWN);
    await view.refresh(true);
  }

  /** Ends a hold; one order tries first. False when there was none. */
  async function release(code: string): Promise<boolean> {
    const before = await redis.hget(keys.breaker, holdField(code));
    if (before === null) return false;
    await startTrial();
    if ((await redis.hdel(keys.breaker, holdField(code))) === 0) return false;
    const { since, ...cause } = JSON.parse(before) as Hold;
    const past: PastPause = { ...cause, from: since, to: time.now() };
    await redis.lpush(keys.pauses, JSON.stringify(past));
    await view.refresh(true);
    return true;
  }

  /** Every reason why delivery is paused now; holds first. */
  async function reasons(): Promise<Pause[]> {
    return allPauses(await redis.hgetall(keys.breaker));
  }

  /** The pauses that overlap a span of time, latest first, including a current one. */
  async function during(from: number, to: number): Promise<PastPause[]> {
    await view.refresh(true);
    const texts = await redis.lrange(keys.pauses, 0, -1);
    const past = texts
      .map((text) => JSON.parse(text) as PastPause)
      .filter((one) => one.from <= to && (one.to ?? to) >= from);
    const pause = view.current();
    if (pause === undefined || pause.since > to) return past;
    return [{ ...pause, from: pause.since, to: undefined }, ...past];
  }

  return { hold, release, reasons, during };
}
