import { join } from 'node:path';
import { measureThroughput } from '../admit/throughput.ts';
import { listOrders } from '../api/list.ts';
import { createTokenSource } from '../api/token.ts';
import type { Config, Environment } from '../config/config.ts';
import type { Secrets } from '../config/secrets.ts';
import { backoff } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';

import { openHttp } from '../core/http.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { createCircuitBreaker } from '../deliver/circuit-breaker.ts';
import { createDelivery, sendingSpan } from '../deliver/delivery.ts';
import { createHealth } from '../deliver/health.ts';
import { createHeldBatches } from '../deliver/held-batches.ts';
import { createRateLimit, unlimited } from '../deliver/rate-limit.ts';
import { watchRefusals } from '../deliver/refusals.ts';
import {
  deliveryPaused,
  deliveryResumed,
  deliveryTrouble,
  ledgerRolledBack,
  redisTrouble,
  tokenRenewed,
} from '../events/delivery.ts';
import { createAdoption } from '../ledger/adopt.ts';
import { createBatches } from '../ledger/batches.ts';
import { createCheckpointFile } from '../ledger/checkpoint-file.ts';
import { createIdentity } from '../ledger/identity.ts';
import { LARGEST } from '../ledger/job.ts';
import { createLedger } from '../ledger/ledger.ts';
import type { Policy } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import { openQueue } from '../queue/queue.ts';
import { createSweeper } from '../queue/sweeper.ts';
import type { Store } from '../redis/store.ts';
import { createCanaries } from './canaries.ts';
import { createLedgerRebuild } from './ledger-rebuild.ts';
import { createVerifier } from './verifier.ts';

export type DeliverySide = ReturnType<typeof createDeliverySide>;

type Deps = {
  config: Config;
  environment: Environment;
  secrets: Secrets;
  store: Store;
  owner: string;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
  /** Keeps a value out of the log. */
  hide?: (secret: string) => void;
};

/** Builds everything between the queue and the API of one environment; starts nothing. */
export function createDeliverySide({ config, environment, secrets, store, owner, clock, log, stopping, hide }: Deps) {
  const { redis, plain, keys, time } = store;
  const { delivery } = config;
  const name = config.environment;
  const policy = policyOf(config);
  const identity = createIdentity({
    redis,
    keys,
    time,
    wait: sendingSpan(delivery.timeout) + delivery.settle,
    checkpoint: createCheckpointFile(join(config.data, 'ledger', `${name}-${keys.origin}.json`)),
  });
  // It joins its commands itself; on a plain connection a trip goes out at once.
  const ledger = createLedger({ redis: plain, keys, identity });
  const queue = openQueue({ redis: plain, keys, onTrouble: (error) => redisTrouble(log, { reason: error.message }) });
  // One connection more than calls in flight: the list, and the token.
  const http = openHttp({ connections: delivery.concurrency + 1 });
  const tokens = createTokenSource({
    redis,
    keys,
    http,
    clock,
    time,
    owner,
    environment: name,
    baseUrl: environment.baseUrl,
    authUrl: environment.authUrl,
    tokenPath: environment.tokenPath,
    ...(environment.scope === undefined ? {} : { scope: environment.scope }),
    credentials: { clientId: secrets.clientId, clientSecret: secrets.clientSecret.reveal() },
    ...(hide ? { onToken: hide } : {}),
    onRenewed: (lifetimeMs) => tokenRenewed(log, { environment: name, lifetimeMs }),
  });
  const breaker = createCircuitBreaker({
    redis,
    keys,
    clock,
    time,
    probe: delivery.probe,
    onPaused: ({ code, reason }) => deliveryPaused(log, { environment: name, code, reason }),
    onResumed: ({ code, since }, until) => deliveryResumed(log, { environment: name, code, durationMs: until - since }),
  });
  const partner = { environment: name, baseUrl: environment.baseUrl, timeout: delivery.timeout };
  const canaries = createCanaries({ redis, keys, clock, time });
  const throughput = measureThroughput(clock);
  const batches = createBatches({ redis, keys, owner });
  const refusals = watchRefusals(delivery.refusalHold);
  const held = createHeldBatches(batches, refusals.forget);

  function onAccepted(number: string): void {
    canaries.remember(number).catch((error: unknown) => deliveryTrouble(log, { reason: toError(error).message }));
  }

  const { deliverJob } = createDelivery({
    onRolledBack: () => establishLedger(),
    ledger,
    queue,
    tokens,
    http,
    partner,
    breaker,
    clock,
    time,
    policy,
    log,
    stopping,
    onAccepted,
    onOutcome: () => throughput.count(),
    held,
    refusals,
    health: createHealth({ breaker, tokens, policy }),
    rate: environment.rateLimit ? createRateLimit({ redis, keys, clock }, environment.rateLimit) : unlimited,
    semaphore: createSemaphore(delivery.concurrency),
    // Enough that the last orders of one chunk leave no call unused.
    inHand: createSemaphore(4 * delivery.concurrency + 2 * LARGEST),
  });
  const verifier = createVerifier({
    ledger,
    queue,
    redis,
    keys,
    time,
    owner,
    policy,
    log,
    canaries,
    list: async (onOrder) => listOrders(http, partner, await tokens.get(), onOrder),
  });
  const rebuild = createLedgerRebuild({
    ledger,
    redis,
    keys,
    clock,
    time,
    owner,
    policy,
    log,
    refresh: () => breaker.refresh(true),
    adopt: createAdoption({ redis, keys }),
    list: async (onOrder) => listOrders(http, partner, await tokens.get(), onOrder),
  });

  let establishing: Promise<void> | undefined;

  /** Compares the ledger with what is remembered of it; where it knows too little the API's list comes first. */
  function establishLedger(): Promise<void> {
    // All orders on their way notice a rollback together: it is looked at and told once.
    establishing ??= establish().finally(() => {
      establishing = undefined;
    });
    return establishing;
  }

  async function establish(): Promise<void> {
    if ((await identity.establish()) === 'rolled-back') ledgerRolledBack(log, { environment: name });
    await breaker.refresh(true);
  }

  const sweeper = createSweeper({ ledger, queue, time, policy, log, isHeld: held.has });
  return {
    ledger,
    identity,
    queue,
    http,
    tokens,
    breaker,
    verifier,
    rebuild,
    establishLedger,
    batches,
    held,
    sweeper,
    throughput,
    deliverJob,
  };
}

/** The ledger's rules as configured. */
export function policyOf({ delivery }: Config): Policy {
  const { attempts, settle, onDoubt } = delivery;
  return { attempts, settle, onDoubt, backoff: (used) => backoff(used, delivery.backoff) };
}
