import type { Clock } from '../core/clock.ts';
import type { PauseCause } from '../ledger/pause-cause.ts';
import type { Store } from '../redis/store.ts';

/**
 * Why delivery of an environment is paused. `code` is stable; only a person or a task ends a pause
 * that is `held`; any other ends automatically: one order is tried at `nextTryAt`. Times are ledger time in milliseconds.
 */
export type Pause = PauseCause & {
  since: number;
  held: boolean;
  nextTryAt?: number;
  /** The one order that passes a hold. */
  turn?: string;
};

/** What the field of a hold keeps. */
export type Hold = PauseCause & { since: number; turn?: string };

/** The breaker's fields in Redis, as they were read. */
export type BreakerFields = Readonly<Record<string, string>>;

/** How old a daemon's knowledge of the breaker may be, in milliseconds. An intent is checked against holds in Redis. */
export const REFRESH = 500;
/** Milliseconds after which every daemon that is not suspended obeys a hold, for orders with and without an intent. */
export const HOLD_KNOWN = 25;
/** Milliseconds. A longer wait that the API asks for is a pause with a reason, which a person can end. */
export const LONG_WAIT = 5_000;
/** Begins the name of a hold's field. */
const HOLD = 'hold:';

type BreakerViewDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  clock: Clock;
  /** `before`: delivery was paused for another reason until now. */
  onPaused(pause: Pause, before?: Pause): void;
  onResumed(pause: Pause, until: number): void;
};

export type BreakerView = ReturnType<typeof createBreakerView>;

/** What this process knows of the breaker in Redis, at most half a second old. */
export function createBreakerView({ store, clock, onPaused, onResumed }: BreakerViewDeps) {
  const { redis, keys, time } = store;
  let fields: BreakerFields = {};
  let pause: Pause | undefined;
  let troubles = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  /** When the last read that showed no hold was sent. */
  let freeAt = Number.NEGATIVE_INFINITY;
  const isOnTrial = () => fields['trialAt'] !== undefined;

  /** Reads the breaker again, unless that was done just now. `force`: in any case. */
  async function refresh(force = false): Promise<void> {
    if (!force && clock.monotonic() - lookedAt < REFRESH) return;
    // Callers that arrive meanwhile share this answer and never use an older one.
    looking = force || looking === undefined ? look() : looking;
    await looking;
  }

  /** Sees every hold that was set more than `HOLD_KNOWN` ago. */
  async function seeHolds(): Promise<void> {
    if (clock.monotonic() - freeAt < HOLD_KNOWN) return;
    looking ??= look();
    await looking;
  }

  async function look(): Promise<void> {
    const asked = clock.monotonic();
    try {
      fields = await redis.hgetall(keys.breaker);
      lookedAt = clock.monotonic();
      const before = pause;
      pause = pauseIn(fields);
      if (pause !== undefined || isOnTrial()) troubles += 1;
      if (pause?.held !== true) freeAt = Math.max(freeAt, asked);
      if (pause && before?.code !== pause.code) onPaused(pause, before);
      if (before && pause === undefined) onResumed(before, time.now());
    } finally {
      looking = undefined;
    }
  }

  return {
    refresh,
    seeHolds,
    /** After a slow-down or a hold: one order at a time tests whether the API accepts orders. */
    isOnTrial,
    /** Changes while delivery is paused or on trial. */
    troubles: () => troubles,
    /** Redis stored an intent that was sent at this time, which it does only without a hold. Time of the monotonic clock. */
    sawNoHold: (asked: number): void => {
      freeAt = Math.max(freeAt, asked);
    },
    /** Why delivery is paused now, as far as known. */
    current: (): Pause | undefined => pause,
    /** The pause that this order waits for: a hold lets the order of its turn pass. */
    pauseOf: (number: string): Pause | undefined =>
      allPauses(fields).find(({ turn }) => turn === undefined || turn !== number),
    /** The order of the turn of a hold, as far as known. */
    turn: (): string | undefined => allPauses(fields).find(({ turn }) => turn !== undefined)?.turn,
    /** A field as it was read last. */
    field: (name: string): string | undefined => fields[name],
  };
}

export function holdField(code: string): string {
  return `${HOLD}${code}`;
}

/** The pause that delivery waits for; a hold takes precedence over a pause that ends automatically. */
function pauseIn(fields: BreakerFields): Pause | undefined {
  return allPauses(fields)[0];
}

/** Every reason why delivery is paused; holds first. */
export function allPauses(fields: BreakerFields): Pause[] {
  const holds = Object.entries(fields).filter(([name]) => name.startsWith(HOLD));
  const { code, facts = '{}', since = '0', probeAt = '0' } = fields;
  const times = { since: Number(since), nextTryAt: Number(probeAt) };
  const cause = { code, facts: JSON.parse(facts) } as PauseCause;
  const tripped: Pause[] = code === undefined ? [] : [{ ...cause, held: false, ...times }];
  return [...holds.map(([, text]) => ({ ...(JSON.parse(text) as Hold), held: true })), ...tripped];
}
