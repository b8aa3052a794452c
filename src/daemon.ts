import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { startAdmin } from './admin/start-admin.ts';
import { createAdmission } from './admit/admit.ts';
import { createHeldBack } from './admit/held-back.ts';
import { type IngestDeps, ingest } from './admit/ingest.ts';
import { createZeroGuard } from './admit/zero-guard.ts';
import type { Config } from './config/config.ts';
import { environmentOf } from './config/environment-of.ts';
import { mappingFor } from './config/mapping-for.ts';
import type { Secret } from './config/secret.ts';
import type { Secrets } from './config/secrets.ts';
import type { Clock } from './core/clock.ts';
import { codeOf, PoSyncError } from './core/errors.ts';
import { startLoop } from './core/loop.ts';
import { createSemaphore } from './core/semaphore.ts';
import { deliveryTrouble } from './events/delivery.ts';
import { openSources } from './intake/sources.ts';
import type { Batch } from './ledger/batches.ts';
import { createCorrectedExport } from './ledger/corrected-export.ts';
import { createKnownInvalid } from './ledger/known-invalid.ts';
import { createRetention } from './ledger/retention.ts';
import type { Log } from './log/log.ts';
import { type NoticeSurroundings, openNotices } from './notify/notices.ts';
import { type Backlog, createBacklog } from './operate/backlog.ts';
import { openHeartbeat, type Self } from './operate/heartbeat.ts';
import type { Inspection } from './parse/inspection.ts';
import { createDeliverySide } from './reconcile/delivery-side.ts';
import { openStore } from './redis/store.ts';
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
  /** Told of each batch that was settled here, and how many of its orders need a person. */
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

const HOUR = 3_600_000;
/** Beyond the calls in flight: what recording their outcomes may take. */
const DRAIN_MARGIN = 5_000;

/**
 * The composition root: builds every part, starts them in this order, and disposes of them in reverse.
 * Throws PoSyncError when the daemon cannot do its work: a folder, Redis, the first token, the admin port.
 */
export async function openDaemon(input: DaemonInput): Promise<Daemon> {
  const { config, secrets, clock, log } = input;
  await using resources = new AsyncDisposableStack();
  const owner = randomUUID();
  const stopping = new AbortController();
  const onTrouble = (error: Error) => deliveryTrouble(log, { reason: error.message });
  const every = (pause: number, tick: () => Promise<void>) =>
    resources.use(startLoop(tick, { pause, clock, onTrouble }));

  await makeFolder(config.reports.path, 'reports.path');
  await makeFolder(config.data, 'data');
  const store = resources.use(
    await openStore(config, { clock, log, ...(input.signal ? { signal: input.signal } : {}) }),
  );
  const { redis, keys, time } = store;
  const environment = environmentOf(config);
  const side = createDeliverySide({
    config,
    environment,
    secrets,
    store,
    owner,
    clock,
    log,
    stopping: stopping.signal,
    ...(input.hide ? { hide: input.hide } : {}),
  });
  resources.use(side.http);
  resources.use(side.queue);
  await firstToken(side);
  await side.establishLedger();
  await side.rebuild.first(stopping.signal);
  // Each time Redis comes back it may be another one, or an older self.
  redis.on('ready', () => {
    side.establishLedger().catch(onTrouble);
  });

  const { batches } = side;
  const notices = resources.use(openNotices({ config, store, side, clock, log, surroundings: input.notices }));
  const inspections = new Map<string, Inspection>();
  const mappingOf = (source: string) => mappingFor(config, source);
  const settlement = openSettlement({
    config,
    store,
    side,
    clock,
    log,
    inspections,
    onSettled: (batch, needPerson) => {
      notices.settled(batch, needPerson);
      input.onSettled?.(batch, needPerson);
    },
  });
  resources.use(settlement);
  const retention = createRetention({ redis, keys, keep: config.ledger.keep });
  const heldBack = createHeldBack({ batches, ledger: side.ledger, redis, keys, clock });
  const admit = createAdmission({
    ledger: side.ledger,
    queue: side.queue,
    time,
    clock,
    throughput: { ...side.throughput, fewSeconds: () => side.throughput.fewSeconds() + heldBack.orders() },
    turns: createSemaphore(4),
    nameOf: batches.nameOf,
    shown: retention.shown,
    told: createKnownInvalid({ redis, keys }),
    corrected: createCorrectedExport({ redis, keys }),
    isCancelled: batches.isCancelled,
  });
  const guard = createZeroGuard({ ledger: side.ledger, redis, keys });
  const ingestDeps: IngestDeps = {
    batches,
    admit: async (batch, page, file, signal) =>
      (await heldBack.released(batch.batch, signal)) && admit(batch, await guard(page, file), file, signal),
    mappingOf,
    log,
    inspections,
    stopping: stopping.signal,
    onProgress: settlement.progress,
    onUnreadable: settlement.settleUnreadable,
  };

  every(10_000, () => time.sync());
  every(500, () => side.breaker.refresh());
  every(500, side.held.refresh);
  every(1_000, heldBack.tick);
  every(250, settlement.tick);
  every(1_000, settlement.refresh);
  every(1_000, side.sweeper.tick);
  // Keeps what we know of it current, so that a rollback is noticed whoever did the work that is lost.
  every(1_000, side.establishLedger);
  every(1_000, async () => {
    await side.rebuild.tick();
  });
  every(Math.min(1_000, config.delivery.settle / 10), side.verifier.tick);
  const heart = resources.use(openHeartbeat({ redis, keys, time, id: owner, self: input.self }));
  every(3_000, () => heart.beat());
  every(1_000, notices.tick);
  every(2_000, () => tellProgress());
  every(HOUR, () => keepHouse({ config, batches, retention, clock, log }));

  const sources = resources.use(
    await openSources({
      config,
      batches,
      redis,
      keys,
      clock,
      log,
      stopping: stopping.signal,
      authorizations: secrets.sources,
      ingest: (file, claimedAt) => {
        notices.heard(file.source, claimedAt);
        return ingest(file, claimedAt, ingestDeps);
      },
    }),
  );
  every(1_000, sources.reclaim);
  const adminPort = input.admin ? (await openAdmin()).port : undefined;
  // Last, so that it is the first to stop, and nothing was sent when a start fails.
  const worker = side.queue.work(config.delivery.concurrency, side.deliverJob);
  resources.defer(() => worker.stop(config.delivery.timeout + DRAIN_MARGIN));
  resources.defer(() => stopping.abort());

  async function tellProgress(): Promise<void> {
    for (const { batch } of await batches.underWay()) {
      await settlement.progress(batch);
    }
  }

  async function openAdmin() {
    const { host, port } = config.admin;
    const token = input.adminToken ? { token: input.adminToken } : {};
    return resources.use(await startAdmin({ host, port, ...token, checks: { ready } }));
  }

  async function ready() {
    const answer = await redis.ping();
    const checks = {
      redis: answer === 'PONG' ? 'ok' : answer,
      sources: sources.healthy() ? 'ok' : 'a folder is missing',
    };
    return { ok: Object.values(checks).every((check) => check === 'ok'), checks };
  }

  const kept = resources.move();
  return {
    adminPort,
    watch: sources.start,
    takePresent: sources.settleOnce,
    ...createBacklog({ ledger: side.ledger, batches, breaker: side.breaker, reading: sources.reading }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A clear no to the first token ends the start; an endpoint that is away is waited for like any later trouble. */
async function firstToken({ tokens }: ReturnType<typeof createDeliverySide>): Promise<void> {
  await tokens.get().catch((error: unknown) => {
    if (codeOf(error) !== 'token-unavailable') throw error;
  });
}

async function makeFolder(path: string, key: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw new PoSyncError(
      'folder-unusable',
      `the folder ${path} cannot be made (${codeOf(error) ?? 'unknown error'}).`,
      {
        remedy: `Make it, or correct ${key} in the configuration.`,
        facts: { path },
        cause: error,
      },
    );
  });
}
