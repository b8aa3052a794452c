import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { backoff } from '../core/backoff/backoff.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Context } from '../redis/store.ts';
import { type Batches, createBatches } from './batches/batches.ts';
import { type Entry, sendingSpan } from './entry.ts';
import { createCheckpointFile, createIdentity, type Identity } from './identity.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Policy } from './state-machine/step.ts';

/** What is known of the orders and batches of one environment, and the rules that decide about them. */
export type EnvironmentLedger = { ledger: Ledger; batches: Batches; identity: Identity; policy: Policy };

/** Builds the ledger of the configured environment; reads and writes nothing yet. */
export function createEnvironmentLedger({ config, store, owner, log }: Context): EnvironmentLedger {
  const { redis, plain, keys, time } = store;
  const { timeout, settle } = config.delivery;
  const identity = createIdentity({
    redis,
    keys,
    time,
    wait: sendingSpan(timeout) + settle,
    checkpoint: createCheckpointFile(join(config.data, 'ledger', `${config.environment}-${keys.origin}.json`)),
  });
  const onOutcome = (batch: string, outcome: Outcome, orders: number, at: number, entry?: Entry) => {
    log.meter?.settled(batch, outcome, orders, outcome === 'accepted' ? at - (claimTimeOf(batch) ?? at) : undefined);
    if (entry !== undefined) log.tracer?.settled(entry, outcome, at);
  };
  return {
    // It groups its own commands, so it uses the connection without automatic pipelines.
    ledger: createLedger({ redis: plain, keys, identity, onOutcome }),
    batches: createBatches({ redis, keys, owner, identity }),
    identity,
    policy: policyOf(config),
  };
}

/** The ledger's rules as configured. */
export function policyOf({ delivery }: Config): Policy {
  const { attempts, settle, onDoubt } = delivery;
  return { attempts, settle, onDoubt, backoff: (used) => backoff(used, delivery.backoff) };
}
