import { randomUUID } from 'node:crypto';
import { openPartner } from '../api/partner.ts';
import type { Config } from '../config/config.ts';
import { loadSecrets } from '../config/secrets.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../deliver/circuit-breaker.ts';
import { type Batches, createBatches } from '../ledger/batches.ts';
import { policyOf } from '../ledger/environment-ledger.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';
import type { Policy } from '../ledger/state.ts';
import { createLog, type Log } from '../log/log.ts';
import { createApiList } from '../operate/api-list.ts';
import type { OperatorContext as OperationContext } from '../operate/operator-context.ts';
import { createOperator, type Operator } from '../operate/operator-context.ts';
import { type OrderQueue, openQueue } from '../queue/queue.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { openStore, type Store } from '../redis/store.ts';
import { type ConfigArgs, openConfig } from './load-config.ts';
import type { Shell } from './shell.ts';

export type OperatorContextArgs = ConfigArgs & { json: boolean };

/** What an operator's command works with: the store that the daemons use, and all that reads and writes it. */
export type OperatorContext = AsyncDisposable &
  OperationContext & {
    config: Config;
    environment: string;
    reports: string;
    owner: string;
    clock: Clock;
    log: Log;
    isPrivate: boolean;
    redis: Redis;
    keys: Keys;
    time: RedisTime;
    batches: Batches;
    ledger: Ledger;
    queue: OrderQueue;
    breaker: CircuitBreaker;
    policy: Policy;
    operator: Operator;
  };

/**
 * Opens the store of the daemons for a command. `confirm`: the command acts, so a protected environment must be
 * confirmed. Throws PoSyncError as `openConfig` and `openStore`.
 */
export async function openOperatorContext(
  args: OperatorContextArgs,
  shell: Shell,
  { confirm }: { confirm: boolean },
): Promise<OperatorContext> {
  const { config } = await openConfig(args, shell, { confirm });
  await using resources = new AsyncDisposableStack();
  const clock = systemClock;
  const log = createLog({ level: 'silent', pretty: false, stream: shell.streams.err });
  const store: Store = resources.use(await openStore(config, { clock, log, signal: shell.signal }));
  const { redis, keys, time } = store;
  const owner = randomUUID();
  const breaker = createCircuitBreaker({
    store,
    clock,
    probe: config.delivery.probe,
    onPaused: () => undefined,
    onResumed: () => undefined,
  });
  const queue = resources.use(openQueue({ store, log }));
  const kept = resources.move();
  return {
    config,
    store,
    environment: config.environment,
    reports: config.reports.path,
    owner,
    clock,
    log,
    isPrivate: store.private,
    redis,
    keys,
    time,
    batches: createBatches({ redis, keys, owner }),
    // A command never begins an attempt, so it need not know what the ledger must have reached.
    ledger: createLedger({
      redis,
      keys,
      identity: { known: () => ({ epoch: '', sequence: 0 }), saw: () => undefined },
    }),
    queue,
    breaker,
    policy: policyOf(config),
    operator: createOperator(shell.env, time),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Reads the API's list with the environment's own token. Throws PoSyncError `secret-missing` and others of `loadSecrets`. */
export async function openListing(context: OperatorContext, shell: Shell) {
  const { store, owner, clock } = context;
  const secrets = await loadSecrets(context.config, shell.env);
  const partner = openPartner({ ...context, stopping: shell.signal }, { secrets });
  const { read } = createApiList({ list: partner.list, store, owner, clock, signal: shell.signal });
  return { read, [Symbol.asyncDispose]: () => partner[Symbol.asyncDispose]() };
}
