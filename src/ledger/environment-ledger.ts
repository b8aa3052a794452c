import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, environmentOf } from '../config/config.ts';
import { backoff } from '../core/backoff/backoff.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { orders } from '../core/format.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import { type Keys, keysAt, PERSONS_PAUSE } from '../redis/keys.ts';
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
    checkpoint: createCheckpointFile(checkpointFile(config.data, config.environment, keys.origin), {
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
    if (entry !== undefined) log.tracer?.settled(entry, outcome, at);
  };
  return {
    // It groups its own commands, so it uses the connection without automatic pipelines.
    ledger: createLedger({ redis: plain, keys, identity, onOutcome }),
    batches: createBatches({ redis, keys, owner, identity, config }),
    identity,
    policy: policyOf(config),
  };
}

/** Where a host keeps the checkpoints of its ledgers, one for each environment and address of its API. */
const checkpointFile = (data: string, environment: string, origin: string) =>
  join(data, 'ledger', `${environment}-${origin}.json`);

/**
 * Whether a start of this machine finds that the ledger lost changes, and then reads the API's list first. Changes nothing.
 * False where the checkpoint cannot be read.
 */
export async function willNoticeLoss(
  config: Config,
  { redis, keys }: { redis: Redis; keys: Keys },
): Promise<boolean> {
  const file = checkpointFile(config.data, config.environment, keys.origin);
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

/**
 * Refuses to send for an environment while orders wait in its ledger of another address: that ledger would send them, too,
 * as soon as its address is configured again. Throws PoSyncError `orders-at-another-address`.
 */
export async function requireOneAddress(...of: Parameters<typeof waitingElsewhere>): Promise<void> {
  const [first] = await waitingElsewhere(...of);
  if (first) throw ordersElsewhere(of[0].environment, first.orders, first.file);
}

/** Takes over the pause of a person from a former address where the environment has a new one: it lasts until somebody ends it. */
export async function keepPause(
  ...[config, { redis, keys }]: Parameters<typeof waitingElsewhere>
): Promise<void> {
  if ((await redis.hexists(keys.identity, 'epoch')) > 0) return;
  for (const { breaker } of await keysElsewhere(config, keys)) {
    const pause = await redis.hget(breaker, PERSONS_PAUSE);
    if (pause !== null) await redis.hsetnx(keys.breaker, PERSONS_PAUSE, pause);
  }
}

/** How many orders of the environment wait in its ledger of each other address, and the file that stands for that ledger. */
export async function waitingElsewhere(
  { environment, data }: Pick<Config, 'environment' | 'data'>,
  { redis, keys }: Pick<Context['store'], 'redis' | 'keys'>,
): Promise<{ orders: number; file: string }[]> {
  const waiting = await Promise.all(
    (await keysElsewhere({ environment, data }, keys)).map(async (other) => {
      const [due, doubt] = await Promise.all([redis.zcard(other.due), redis.zcard(other.doubt)]);
      return { orders: due + doubt, file: checkpointFile(data, environment, other.origin) };
    }),
  );
  return waiting.filter((one) => one.orders > 0);
}

/** The keys of the environment's ledgers of other addresses that were used here. */
export async function keysElsewhere(
  { environment, data }: Pick<Config, 'environment' | 'data'>,
  own: Keys,
): Promise<Keys[]> {
  const prefix = `${environment}-`;
  const names = (await readdir(join(data, 'ledger')).catch(unlessMissing)).filter((name) =>
    name.startsWith(prefix),
  );
  const origins = names.flatMap(
    (name) => /^([0-9a-f]{8})\.json$/.exec(name.slice(prefix.length))?.[1] ?? [],
  );
  return origins.filter((one) => one !== own.origin).map((origin) => keysAt(environment, origin));
}

function ordersElsewhere(environment: string, waiting: number, file: string): PoSyncError {
  const wait = waiting === 1 ? 'waits' : 'wait';
  return new PoSyncError(
    'orders-at-another-address',
    `${orders(waiting)} of ${environment} ${wait} to be sent to the address that baseUrl had before.`,
    {
      remedy: `If the former address was wrong, so that no order can have arrived there, remove ${file}: at the next start, po-sync reads the files that are not finished again and sends their orders to the new address. If the same API with its orders moved to the new address, follow "The API moved" in docs/operations.md. Otherwise set the former baseUrl again and run po-sync until none waits, or withdraw them there with po-sync batches cancel, because they would be created twice if both addresses lead to the same API.`,
      facts: { environment, orders: waiting, file },
    },
  );
}

function unlessMissing(error: unknown): string[] {
  if (codeOf(error) !== 'ENOENT') throw error;
  return [];
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
