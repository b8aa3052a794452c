import { randomUUID } from 'node:crypto';
import { openTokens } from '../api/token.ts';
import type { Config } from '../config/config.ts';
import { environmentOf } from '../config/environment-of.ts';
import { loadSecrets } from '../config/secrets.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { openHttp } from '../core/http.ts';
import { type Gate, openGate } from '../deliver/circuit-breaker.ts';
import { type Batches, openBatches } from '../ledger/batches.ts';
import { type Ledger, openLedger } from '../ledger/ledger.ts';
import type { Policy } from '../ledger/state.ts';
import { createLog, type Log } from '../log/log.ts';
import { openApiList } from '../operate/api-list.ts';
import { type Operator, openOperator } from '../operate/operator.ts';
import { type OrderQueue, openQueue } from '../queue/queue.ts';
import { policyOf } from '../reconcile/delivery-side.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { openStore, type Store } from '../redis/store.ts';
import { type ConfigArgs, openConfig } from './load-config.ts';
import type { Shell } from './shell.ts';

export type DeskArgs = ConfigArgs & { json: boolean };

/** What an operator's command works with: the store that the daemons use, and all that reads and writes it. */
export type Desk = AsyncDisposable & {
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
  gate: Gate;
  policy: Policy;
  operator: Operator;
};

/**
 * Opens the store of the daemons for a command. `confirm`: the command acts, so a protected environment must be
 * confirmed. Throws PoSyncError as `openConfig` and `openStore`.
 */
export async function openDesk(args: DeskArgs, shell: Shell, { confirm }: { confirm: boolean }): Promise<Desk> {
  const { config } = await openConfig(args, shell, { confirm });
  await using resources = new AsyncDisposableStack();
  const clock = systemClock;
  const log = createLog({ level: 'silent', pretty: false, stream: shell.streams.err });
  const store: Store = resources.use(await openStore(config, { clock, log, signal: shell.signal }));
  const { redis, plain, keys, time } = store;
  const owner = randomUUID();
  const gate = openGate({
    redis,
    keys,
    clock,
    time,
    probe: config.delivery.probe,
    onPaused: () => undefined,
    onResumed: () => undefined,
  });
  const queue = resources.use(openQueue({ redis: plain, keys, onTrouble: () => undefined }));
  const kept = resources.move();
  return {
    config,
    environment: config.environment,
    reports: config.reports.path,
    owner,
    clock,
    log,
    isPrivate: store.private,
    redis,
    keys,
    time,
    batches: openBatches({ redis, keys, owner }),
    // A command never begins an attempt, so it need not know what the ledger must have reached.
    ledger: openLedger({ redis, keys, identity: { known: () => ({ life: '', seq: 0 }), saw: () => undefined } }),
    queue,
    gate,
    policy: policyOf(config),
    operator: openOperator(shell.env, time),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Reads the API's list with the environment's own token. Throws PoSyncError `secret-missing` and others of `loadSecrets`. */
export async function openListing(desk: Desk, shell: Shell) {
  const { config, redis, keys, clock, time, owner } = desk;
  const environment = environmentOf(config);
  const { clientId, clientSecret } = await loadSecrets(config, shell.env);
  const http = openHttp({ connections: 2 });
  const tokens = openTokens({
    redis,
    keys,
    http,
    clock,
    time,
    owner,
    environment: config.environment,
    baseUrl: environment.baseUrl,
    authUrl: environment.authUrl,
    tokenPath: environment.tokenPath,
    ...(environment.scope === undefined ? {} : { scope: environment.scope }),
    credentials: { clientId, clientSecret: clientSecret.reveal() },
  });
  const partner = { environment: config.environment, baseUrl: environment.baseUrl, timeout: config.delivery.timeout };
  const { read } = openApiList({ http, tokens, partner, redis, keys, owner, clock, signal: shell.signal });
  return { read, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}
