import type { Busy, Seen } from '../api/classify.ts';
import type { Partner } from '../api/partner.ts';
import { environmentOf } from '../config/config.ts';
import type { Hold } from '../ledger/batches/batch-control.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { answerOf } from '../ledger/pause-cause.ts';
import type { Policy } from '../ledger/state-machine/step.ts';
import { alike } from '../order/text.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Context, Store } from '../redis/store.ts';
import type { RedisTime } from '../redis/time.ts';
import { LONG_WAIT } from './breaker-view.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { createPauseRules, type PauseRules } from './pause-rules.ts';

/** What slows or stops attempts, besides the circuit breaker. */
export type Guards = { health: PauseRules; held: HeldBatches; refusals: Refusals; rate: RateLimit };

type GuardsDeps = {
  context: Context;
  book: EnvironmentLedger;
  partner: Partner;
  breaker: CircuitBreaker;
};

/** Builds them from the configuration. */
export function createGuards({ context, book, partner, breaker }: GuardsDeps): Guards {
  const { config, store } = context;
  const refusals = watchRefusals(config.delivery.refusalHold);
  const rules = { breaker, tokens: partner.tokens, time: store.time, policy: book.policy };
  const firstTry = config.delivery.probe.initial;
  return {
    health: createPauseRules({ ...rules, firstTry, slowDown: createSlowDown(rules) }),
    held: createHeldBatches(book.batches, refusals.forget),
    refusals,
    rate: rateLimitOf(context),
  };
}

/** Milliseconds. The shortest wait after a 429. */
const SHORT_WAIT = 250;

type SlowDownDeps = { breaker: CircuitBreaker; time: RedisTime; policy: Policy };

/** What happens when the API asks everyone to wait: a short wait is no pause the first time; a long one, or a second, is. */
function createSlowDown({ breaker, time, policy }: SlowDownDeps) {
  let slowedAt = 0;

  return async ({ said, retryAfter }: Busy, began: number): Promise<void> => {
    const wait = retryAfter ?? Math.max(SHORT_WAIT, policy.backoff(1));
    // Calls that were on their way when the API first asked belong to the same wait.
    const isSame = began < slowedAt;
    const passes = wait <= LONG_WAIT && (isSame || (await breaker.acceptedSince(slowedAt)));
    if (!isSame) slowedAt = time.now();
    if (passes) return breaker.slowDown(wait).then(() => undefined);
    const facts = { ...answerOf(said), ...(retryAfter && { askedMs: retryAfter }) };
    await breaker.trip({ code: `http-${said.httpStatus ?? 0}`, facts }, wait);
  };
}

type RateLimit = {
  /** Resolves when it is the caller's turn, or when `signal` ends the wait. */
  turn(signal: AbortSignal): Promise<'at once' | 'waited' | 'stopped'>;
  /** Takes a turn before the orders that wait for theirs: each of them waits for one more. */
  takeFirst(signal: AbortSignal): Promise<void>;
};

/** No limit: every turn is now. */
const unlimited: RateLimit = {
  turn: async (signal) => (signal.aborted ? 'stopped' : 'at once'),
  takeFirst: async () => undefined,
};

type Limited = Pick<Context, 'config' | 'clock'> & {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
};

/** The rate limit of the configured environment. */
export function rateLimitOf({ config, store, clock }: Limited): RateLimit {
  const { rateLimit } = environmentOf(config);
  return rateLimit ? createRateLimit({ store, clock }, rateLimit) : unlimited;
}

/** Milliseconds. Ledger time is corrected once a second, e.g. after the machine was suspended: a longer wait asks again. */
const LONGEST_SLEEP = 1_000;

/**
 * At most `max` calls in `per` milliseconds, shared by all daemons and spread evenly:
 * a tenth of the window may come at once, so that small limits stay smooth.
 */
function createRateLimit(
  { store: { redis, keys, time }, clock }: Omit<Limited, 'config'>,
  { max, per }: { max: number; per: number },
): RateLimit {
  const script = readScript(new URL('./rate.lua', import.meta.url));
  const interval = (per * 1000) / max;
  const burst = (per * 1000) / 10;
  let nextFirst = Number.NEGATIVE_INFINITY;
  async function reserve(passes: 0 | 1): Promise<{ due: number; passed: number }> {
    const args = [interval, burst, time.now() * 1000, passes];
    const [due, passed] = (await runScript(redis, script, [keys.rate], args)) as [string, number];
    return { due: Number(due) / 1000, passed };
  }
  return {
    async takeFirst(signal) {
      const now = clock.monotonic();
      const due = Math.max(nextFirst, now - burst / 1000);
      nextFirst = due + interval / 1000;
      if (due > now) await clock.sleep(due - now, signal);
      await reserve(1);
    },
    async turn(signal) {
      const { due: reserved, passed } = await reserve(0);
      let due = reserved;
      const wait = () => due - time.now();
      if (wait() <= 0) return signal.aborted ? 'stopped' : 'at once';
      while (wait() > 0 && !signal.aborted) {
        await clock.sleep(Math.min(wait(), LONGEST_SLEEP), signal);
        const now = Number((await redis.hget(keys.rate, 'passed')) ?? passed);
        due = reserved + ((now - passed) * interval) / 1000;
      }
      return signal.aborted ? 'stopped' : 'waited';
    },
  };
}

/** When the rate limit allows the next call, ledger time in milliseconds; 0 without a limit, or when it is now. */
export async function nextTurnAt({ redis, keys }: { redis: Redis; keys: Keys }): Promise<number> {
  return Math.floor(Number((await redis.hget(keys.rate, 'due')) ?? 0) / 1000);
}

export type HeldBatches = ReturnType<typeof createHeldBatches>;

/** The held batches as of the last refresh from Redis. */
function createHeldBatches(
  batches: Pick<Batches, 'held' | 'hold'>,
  onReleased: (batch: string) => void,
) {
  let held = new Set<string>();
  let holds = 0;
  /** Holds on their way to Redis: what it answers meanwhile may lack them. */
  let storing = 0;

  /** Reads the held batches from Redis; call about twice a second. */
  async function refresh(): Promise<void> {
    const before = holds;
    if (storing > 0) return;
    const now = new Set(await batches.held());
    // A result that was read while a hold was being stored may lack it.
    if (holds !== before) return;
    for (const batch of held) if (!now.has(batch)) onReleased(batch);
    held = now;
  }

  /** Holds a batch until a person releases it. */
  async function hold(batch: string, refused: Hold, at: number): ReturnType<Batches['hold']> {
    held.add(batch);
    holds += 1;
    storing += 1;
    try {
      const done = await batches.hold(batch, refused, at);
      if (done === 'not') held.delete(batch);
      return done;
    } finally {
      storing -= 1;
    }
  }

  /** Whether it is held now: one that was released just before would wait aside for long. */
  async function still(batch: string): Promise<boolean> {
    if (held.has(batch)) await refresh();
    return held.has(batch);
  }

  return { refresh, hold, still, has: (batch: string) => held.has(batch) };
}

/** A batch is held when a `share` (a fraction) of its last `of` answers are the same refusal. */
type RefusalRule = { share: number; of: number };

type Refusals = {
  /** Records an answer; returns what was refused when the batch is to be held. */
  take(batch: string, seen: Seen): Hold | undefined;
  /** A person released the batch although such refusals were known. */
  allow(batch: string, refused: Hold): void;
  /** Forgets the answers of a batch that a person released. */
  forget: (batch: string) => void;
};

/** How many batches are remembered. */
const MOST = 1000;

/**
 * Watches for a batch whose orders are refused alike: its mapping is wrong, not its orders, and forty refusals show that
 * as well as ten thousand.
 */
function watchRefusals({ share, of }: RefusalRule): Refusals {
  const answers = new Map<string, { last: string[]; allowed: Set<string> }>();

  return {
    take(batch, seen) {
      if (seen.kind !== 'accepted' && seen.kind !== 'refused') return undefined;
      const known = answers.get(batch) ?? { last: [], allowed: new Set<string>() };
      const { last, allowed } = known;
      answers.delete(batch);
      answers.set(batch, known);
      if (answers.size > MOST) answers.delete(answers.keys().next().value ?? '');
      last.push(seen.kind === 'refused' ? `${seen.said.code} ${alike(seen.said.message)}` : '');
      if (last.length > of) last.shift();
      if (seen.kind === 'accepted' || last.length < of) return undefined;
      const kind = last.at(-1) ?? '';
      const number = last.filter((one) => one === kind).length;
      if (number < share * of || allowed.has(kind)) return undefined;
      return {
        wait: { code: 'refusals', facts: { refused: number, of, says: seen.said.message } },
        alike: kind,
      };
    },
    allow: (batch, { alike }) => void answers.get(batch)?.allowed.add(alike),
    forget(batch) {
      const known = answers.get(batch);
      if (known) known.last = [];
    },
  };
}
