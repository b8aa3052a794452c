import { randomUUID } from 'node:crypto';
import { createReadiness } from './admin/readiness.ts';
import { startAdmin } from './admin/start-admin.ts';
import { createFileAdmission } from './admit/file-admission.ts';
import { measureThroughput } from './admit/throughput.ts';
import { openPartner } from './api/partner.ts';
import type { Config } from './config/config.ts';
import type { Secret } from './config/secret.ts';
import type { Secrets } from './config/secrets.ts';
import type { Clock } from './core/clock.ts';
import { startLoop } from './core/loop.ts';
import { createEnvironmentBreaker } from './deliver/circuit-breaker.ts';
import { createDelivery } from './deliver/delivery.ts';
import { deliveryTrouble } from './events/delivery.ts';
import { openSources } from './intake/sources.ts';
import type { Batch } from './ledger/batches.ts';
import { createEnvironmentLedger } from './ledger/environment-ledger.ts';
import type { Log } from './log/log.ts';
import { type NoticeSurroundings, openNotices } from './notify/notices.ts';
import { type Backlog, createBacklog } from './operate/backlog.ts';
import { openHeartbeat, type Self } from './operate/heartbeat.ts';
import type { Inspection } from './parse/inspection.ts';
import { openQueue } from './queue/queue.ts';
import { createSweeper } from './queue/sweeper.ts';
import { createReconciliation } from './reconcile/reconciliation.ts';
import { type Context, makeFolders, openStore } from './redis/store.ts';
import { keepHouse } from './settle/housekeeping.ts';
import { openSettlement } from './settle/settlement.ts';

export type DaemonInput = {
  config: Config;
  secrets: Secrets;
  adminToken?: Secret;
  clock: Clock;
  log: Log;
  self: Self;
  /** Ends the wait for a Redis that loads. */
  signal?: AbortSignal;
  /** Keeps a value out of the log. */
  hide?: (secret: string) => void;
  /** Called with each batch that was settled here, and how many of its orders need a person. */
  onSettled?: (batch: Batch, needPerson: number) => void;
  /** What notices may use of the process. */
  notices?: NoticeSurroundings;
  /** `--once` serves no admin port. */
  admin: boolean;
};

export type Daemon = AsyncDisposable &
  Backlog & {
    adminPort: number | undefined;
    /** Watches the sources from now on. */
    watch(): Promise<void>;
    /** Takes the files present now; resolves when each is claimed. */
    takePresent(): Promise<void>;
  };

/**
 * The composition root: builds every part, starts them in this order, and disposes of them in reverse.
 * Throws PoSyncError when the daemon cannot do its work: a folder, Redis, the first token, the admin port.
 */
export async function openDaemon(input: DaemonInput): Promise<Daemon> {
  const { config, secrets, clock, log, signal } = input;
  await using resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  const onTrouble = (error: Error) => deliveryTrouble(log, { reason: error.message });
  const every = (pause: number, tick: () => Promise<void>) =>
    resources.use(startLoop(tick, { pause, clock, onTrouble }));

  await makeFolders(config);
  const store = resources.use(await openStore(config, { clock, log, ...(signal ? { signal } : {}) }));
  const context: Context = { config, store, owner: randomUUID(), clock, log, stopping: stopping.signal };
  const { redis, keys, time } = store;
  const book = createEnvironmentLedger(context);
  const { ledger, batches, policy } = book;
  const queue = resources.use(openQueue(context));
  const partner = resources.use(openPartner(context, { secrets, hide: input.hide }));
  const breaker = createEnvironmentBreaker(context);
  const reconciliation = createReconciliation({ context, book, queue, partner, breaker });
  const throughput = measureThroughput(clock);
  const on = { accepted: reconciliation.remember, outcome: throughput.count, rolledBack: reconciliation.establish };
  const delivery = createDelivery({ context, book, queue, partner, breaker, on });
  const sweeper = createSweeper({ ledger, queue, time, policy, log, isHeld: delivery.held.has });

  await partner.tokens.first();
  await reconciliation.establish();
  await reconciliation.rebuild.first(stopping.signal);
  // A Redis that comes back may be another one, or an older state of the same.
  redis.on('ready', () => void reconciliation.establish().catch(onTrouble));

  const notices = resources.use(
    openNotices({ config, store, side: { breaker, batches }, clock, log, surroundings: input.notices }),
  );
  const inspections = new Map<string, Inspection>();
  const settlement = resources.use(
    openSettlement({
      ...{ config, store, clock, log, inspections },
      side: { ledger, batches, breaker },
      onSettled: (batch, needPerson) => {
        notices.settled(batch, needPerson);
        input.onSettled?.(batch, needPerson);
      },
    }),
  );
  const admission = createFileAdmission({ context, book, queue, throughput, inspections });
  const heart = resources.use(openHeartbeat({ redis, keys, time, id: context.owner, self: input.self }));
  const rounds: [pause: number, tick: () => Promise<unknown>][] = [
    [10_000, time.sync],
    [500, breaker.refresh],
    [500, delivery.held.refresh],
    [1_000, admission.tick],
    [250, settlement.tick],
    [1_000, settlement.refresh],
    [2_000, settlement.progressAll],
    [500, sweeper.tick],
    // Keeps what is known of the ledger current, so that a rollback is noticed whoever made the lost changes.
    [1_000, reconciliation.establish],
    [1_000, reconciliation.rebuild.tick],
    [Math.min(1_000, config.delivery.settle / 10), reconciliation.verify],
    [3_000, heart.beat],
    [1_000, notices.tick],
    [3_600_000, () => keepHouse({ config, batches, retention: admission.retention, clock, log })],
  ];
  for (const [pause, tick] of rounds) every(pause, async () => void (await tick()));

  const settling = { onProgress: settlement.progress, onUnreadable: settlement.settleUnreadable };
  const sources = resources.use(
    await openSources({
      ...{ config, batches, redis, keys, clock, log, stopping: stopping.signal },
      authorizations: secrets.sources,
      ingest: (file, claimedAt) => {
        notices.heard(file.source, claimedAt);
        return admission.ingest(file, claimedAt, settling);
      },
    }),
  );
  every(1_000, sources.reclaim);
  const checks = createReadiness({ redis, sources });
  const token = input.adminToken ? { token: input.adminToken } : {};
  const admin = input.admin ? resources.use(await startAdmin({ ...config.admin, ...token, checks })) : undefined;
  // Last, so that it stops first, and so that nothing was sent when the start fails.
  const worker = queue.work(config.delivery, delivery.deliverJob);
  resources.use(worker);
  resources.defer(() => stopping.abort());

  const kept = resources.move();
  return {
    adminPort: admin?.port,
    watch: sources.start,
    takePresent: sources.settleOnce,
    ...createBacklog({ ledger, batches, breaker, reading: sources.reading }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
