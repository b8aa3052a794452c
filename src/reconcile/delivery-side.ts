import { join } from 'node:path';
import { measureThroughput } from '../admit/throughput.ts';
import { listOrders } from '../api/list.ts';
import { openTokens } from '../api/token.ts';
import type { Config, Environment } from '../config/config.ts';
import type { Secrets } from '../config/secrets.ts';
import { backoff } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { openInHand } from '../core/fair-semaphore.ts';
import { openHttp } from '../core/http.ts';
import { openPermits } from '../core/semaphore.ts';
import { openGate } from '../deliver/circuit-breaker.ts';
import { openDelivery, sendingSpan } from '../deliver/delivery.ts';
import { openHealth } from '../deliver/health.ts';
import { openHeldBatches } from '../deliver/held-batches.ts';
import { openRateLimit, unlimited } from '../deliver/rate-limit.ts';
import { watchRefusals } from '../deliver/refusals.ts';
import {
  deliveryPaused,
  deliveryResumed,
  deliveryTrouble,
  ledgerRolledBack,
  redisTrouble,
  tokenRenewed,
} from '../events/delivery.ts';
import { openAdoption } from '../ledger/adopt.ts';
import { openBatches } from '../ledger/batches.ts';
import { openTraceFile } from '../ledger/checkpoint-file.ts';
import { openIdentity } from '../ledger/identity.ts';
import { LARGEST } from '../ledger/job.ts';
import { openLedger } from '../ledger/ledger.ts';
import type { Policy } from '../ledger/state.ts';
import type { Log } from '../log/log.ts';
import { openQueue } from '../queue/queue.ts';
import { openSweeper } from '../queue/sweeper.ts';
import type { Store } from '../redis/store.ts';
import { openCanaries } from './canaries.ts';
import { openTakeOver } from './ledger-rebuild.ts';
import { openVerifier } from './verifier.ts';

export type DeliverySide = ReturnType<typeof openDeliverySide>;

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
export function openDeliverySide({ config, environment, secrets, store, owner, clock, log, stopping, hide }: Deps) {
  const { redis, plain, keys, time } = store;
  const { delivery } = config;
  const name = config.environment;
  const policy = policyOf(config);
  const identity = openIdentity({
    redis,
    keys,
    time,
    wait: sendingSpan(delivery.timeout) + delivery.settle,
    trace: openTraceFile(join(config.data, 'ledger', `${name}-${keys.origin}.json`)),
  });
  // It joins its commands itself; on a plain connection a trip goes out at once.
  const ledger = openLedger({ redis: plain, keys, identity });
  const queue = openQueue({ redis: plain, keys, onTrouble: (error) => redisTrouble(log, { reason: error.message }) });
  // One connection more than calls in flight: the list, and the token.
  const http = openHttp({ connections: delivery.concurrency + 1 });
  const tokens = openTokens({
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
  const gate = openGate({
    redis,
    keys,
    clock,
    time,
    probe: delivery.probe,
    onPaused: ({ code, reason }) => deliveryPaused(log, { environment: name, code, reason }),
    onResumed: ({ code, since }, until) => deliveryResumed(log, { environment: name, code, durationMs: until - since }),
  });
  const partner = { environment: name, baseUrl: environment.baseUrl, timeout: delivery.timeout };
  const canaries = openCanaries({ redis, keys, clock, time });
  const throughput = measureThroughput(clock);
  const batches = openBatches({ redis, keys, owner });
  const refusals = watchRefusals(delivery.refusalHold);
  const held = openHeldBatches(batches, refusals.forget);

  function onAccepted(number: string): void {
    canaries.remember(number).catch((error: unknown) => deliveryTrouble(log, { reason: toError(error).message }));
  }

  const { deliverChunk } = openDelivery({
    onRolledBack: () => establishLedger(),
    ledger,
    queue,
    tokens,
    http,
    partner,
    gate,
    clock,
    time,
    policy,
    log,
    stopping,
    onAccepted,
    onOutcome: () => throughput.count(),
    held,
    refusals,
    health: openHealth({ gate, tokens, policy }),
    rate: environment.rateLimit ? openRateLimit({ redis, keys, clock }, environment.rateLimit) : unlimited,
    permits: openPermits(delivery.concurrency),
    // Enough that the last orders of one chunk leave no call unused.
    inHand: openInHand(4 * delivery.concurrency + 2 * LARGEST),
  });
  const verifier = openVerifier({
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
  const takeOver = openTakeOver({
    ledger,
    redis,
    keys,
    clock,
    time,
    owner,
    policy,
    log,
    refresh: () => gate.refresh(true),
    adopt: openAdoption({ redis, keys }),
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
    await gate.refresh(true);
  }

  const sweeper = openSweeper({ ledger, queue, time, policy, log, isHeld: held.has });
  return {
    ledger,
    identity,
    queue,
    http,
    tokens,
    gate,
    verifier,
    takeOver,
    establishLedger,
    batches,
    held,
    sweeper,
    throughput,
    deliverChunk,
  };
}

/** The ledger's rules as configured. */
export function policyOf({ delivery }: Config): Policy {
  const { attempts, settle, onDoubt } = delivery;
  return { attempts, settle, onDoubt, backoff: (used) => backoff(used, delivery.backoff) };
}
