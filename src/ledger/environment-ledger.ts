import { join } from 'node:path';
import { type Config, environmentOf } from '../config/config.ts';
import { backoff } from '../core/backoff/backoff.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { type Context, hasPrivateRedis } from '../redis/store.ts';
import { type Batches, createBatches } from './batches/batches.ts';
import { type Entry, sendingSpan } from './entry.ts';
import { createCheckpointFile, createIdentity, type Identity } from './identity.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Policy } from './state-machine/step.ts';

/** What is known of the orders and batches of one environment, and the rules that decide about them. */
export type EnvironmentLedger = {
  ledger: Ledger;
  batches: Batches;
  identity: Identity;
  policy: Policy;
};

/** Builds the ledger of the configured environment; reads and writes nothing yet. */
export function createEnvironmentLedger({ config, store, owner, log }: Context): EnvironmentLedger {
  const { redis, plain, keys, time } = store;
  const { timeout, settle } = config.delivery;
  const identity = createIdentity({
    redis,
    keys,
    time,
    wait: sendingSpan(timeout) + settle,
    checkpoint: createCheckpointFile(checkpointFile(config), {
      isBesideRedis: store.private,
    }),
  });
  const onOutcome = (
    batch: string,
    outcome: Outcome,
    orders: number,
    at: number,
    entry?: Entry,
  ) => {
    log.meter?.settled(
      batch,
      outcome,
      orders,
      outcome === 'accepted' ? at - (claimTimeOf(batch) ?? at) : undefined,
    );
    if (entry !== undefined) log.tracer?.settled(entry, outcome);
  };
  return {
    // It groups its own commands, so it uses the connection without automatic pipelines.
    ledger: createLedger({ redis: plain, keys, identity, onOutcome }),
    batches: createBatches({ redis, keys, owner, identity, config }),
    identity,
    policy: policyOf(config),
  };
}

/** Where a host keeps the checkpoint of the ledger of an environment. */
const checkpointFile = ({ data, environment }: Config) =>
  join(data, 'ledger', `${environment}.json`);

/**
 * Whether a start of this machine finds that the ledger lost changes, and then reads the API's list first. Changes nothing.
 * False where the checkpoint cannot be read.
 */
export async function willNoticeLoss(
  config: Config,
  { redis, keys }: { redis: Redis; keys: Keys },
): Promise<boolean> {
  const file = checkpointFile(config);
  const checkpoint = createCheckpointFile(file, { isBesideRedis: hasPrivateRedis(config) });
  const { epoch, sequence } = await checkpoint.read().catch(() => ({ epoch: '', sequence: 0 }));
  const [now, reached, succeeds] = await redis.hmget(
    keys.identity,
    'epoch',
    'sequence',
    'succeeds',
  );
  if (epoch === '' || succeeds?.split(' ').includes(epoch)) return false;
  return now !== epoch || Number(reached) < sequence;
}

/** The ledger's rules as configured. */
export function policyOf(config: Config): Policy {
  const { attempts, settle, onDoubt, timeout, ...delivery } = config.delivery;
  const { idempotencyKey: key } = environmentOf(config);
  return {
    attempts,
    settle,
    onDoubt,
    // An attempt is on its way for a sending span, and the API may process it a settle later.
    ...(key && { key: { header: key.header, repeats: key.valid - sendingSpan(timeout) - settle } }),
    backoff: (used) => backoff(used, delivery.backoff),
  };
}
