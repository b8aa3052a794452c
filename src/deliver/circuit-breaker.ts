import type { Clock } from '../core/clock.ts';
import { deliveryPaused, deliveryResumed } from '../log/events/delivery.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Context, Store } from '../redis/store.ts';
import { createBreakerView, type Pause, REFRESH } from './breaker-view.ts';
import { createHolds } from './holds.ts';

/** `probe`: the breaker is half-open, and this one order tries whether the API accepts orders again. */
export type Pass = 'closed' | 'probe' | 'stopped';

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type CircuitBreakerDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  /** Milliseconds to the first try, and the longest wait between two tries. */
  probe: { initial: number; max: number };
  onPaused(pause: Pause): void;
  onResumed(pause: Pause, until: number): void;
};

/** The hold of an operator who paused delivery. */
export const OPERATOR = 'operator';

/**
 * The circuit breaker of one environment, shared by all daemons. Failures that say nothing about an order trip it. Then one
 * order at a time is tried, with growing waits, and the first success resets it. A hold stops every order until it is released.
 */
export function createCircuitBreaker(deps: CircuitBreakerDeps) {
  const view = createBreakerView(deps);
  const run = createBreakerScript(deps);
  const { initial, max } = deps.probe;

  /** Changes the breaker in Redis and reads it again. */
  async function change(verb: string, ...values: (string | number)[]): Promise<boolean> {
    const answer = await run(verb, ...values);
    await view.refresh(true);
    return answer === 1;
  }

  /** Waits until an order may be sent. */
  async function pass(signal: AbortSignal): Promise<Pass> {
    for (;;) {
      if (signal.aborted) return 'stopped';
      await view.refresh();
      const pause = view.current();
      const wait = slowUntil() - deps.store.time.now();
      if (wait <= 0 && pause === undefined) return 'closed';
      if (wait <= 0 && pause?.held === false && (await run('probe', initial, max)) === 1) return 'probe';
      await deps.clock.sleep(wait > 0 ? Math.min(wait, REFRESH) : REFRESH, signal);
    }
  }

  function slowUntil(): number {
    return Number(view.field('slowUntil') ?? 0);
  }

  return {
    pass,
    /** Pauses delivery; the first order tries after `wait` milliseconds. While it is paused only the reason and a longer wait count. */
    trip: (code: string, reason: string, wait = initial) => change('trip', wait, code, reason),
    /** An order got through: delivery resumes for every daemon. */
    reset: async () => view.current() !== undefined && change('reset'),
    /** No order is sent for this many milliseconds; a longer wait stays. */
    slowDown: (ms: number) => change('slow', deps.store.time.now() + ms),
    /** A person ends the wait: one order is tried at once. False when nothing waited. */
    async lift(): Promise<boolean> {
      await view.refresh(true);
      const isSlow = slowUntil() > deps.store.time.now();
      return (await change('lift', initial)) || isSlow;
    },
    refresh: view.refresh,
    current: view.current,
    ...createAcceptances(deps, view),
    ...createHolds({ store: deps.store, view }),
  };
}

/** When the API accepted an order last, and what the list showed about answers that do not say. */
function createAcceptances({ store }: CircuitBreakerDeps, view: ReturnType<typeof createBreakerView>) {
  const { redis, keys, time } = store;
  let acceptedAt = 0;
  let sharedAt = 0;

  return {
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

function createBreakerScript({ store: { redis, keys, time } }: CircuitBreakerDeps) {
  const script = readScript(new URL('./circuit-breaker.lua', import.meta.url));
  return (verb: string, ...values: (string | number)[]): Promise<unknown> =>
    runScript(redis, script, [keys.breaker, keys.pauses], [verb, time.now(), ...values]);
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
