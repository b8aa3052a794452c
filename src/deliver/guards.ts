import type { Partner } from '../api/partner.ts';
import { environmentOf } from '../config/config.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import type { Context } from '../redis/store.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { createHeldBatches, type HeldBatches } from './held-batches.ts';
import { createPauseRules, type PauseRules } from './pause-rules.ts';
import { createRateLimit, type RateLimit, unlimited } from './rate-limit.ts';
import { type Refusals, watchRefusals } from './refusals.ts';

/** What slows or stops attempts, besides the circuit breaker. */
export type Guards = { health: PauseRules; held: HeldBatches; refusals: Refusals; rate: RateLimit };

type GuardsDeps = { context: Context; book: EnvironmentLedger; partner: Partner; breaker: CircuitBreaker };

/** Builds them from the configuration. */
export function createGuards({ context, book, partner, breaker }: GuardsDeps): Guards {
  const { config, store, clock } = context;
  const { rateLimit } = environmentOf(config);
  const refusals = watchRefusals(config.delivery.refusalHold);
  return {
    health: createPauseRules({ breaker, tokens: partner.tokens, time: store.time, policy: book.policy }),
    held: createHeldBatches(book.batches, refusals.forget),
    refusals,
    rate: rateLimit ? createRateLimit({ redis: store.redis, keys: store.keys, clock }, rateLimit) : unlimited,
  };
}
