import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { Clock } from '../../core/clock.ts';
import type { Batches } from '../../ledger/batches/batches.ts';
import { createDoubtCount } from '../../ledger/dead-letters.ts';
import { type Log, withWatchers } from '../../log/log.ts';
import { unreadableBatches } from '../../operate/batches/list-batches.ts';
import type { DaemonInput } from '../../operate/daemon.ts';
import { newestBatches } from '../../operate/delivery/read-status.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import type { Store } from '../../redis/store.ts';
import type { Route } from '../http/route.ts';
import { createHours, type Hours } from '../picture/hours.ts';
import { createOpenLetterCount } from '../read-model/changes.ts';
import { collectProcessMetrics, countSpans, createOwnMetrics } from './own-metrics.ts';
import { createGuaranteeGauges, createSharedMetrics, readSharedState } from './shared-metrics.ts';

/** Milliseconds that one reading of Redis serves. */
const FRESH = 1_000;
/** Milliseconds after which a scrape answers without Redis. */
const TIME_LIMIT = 2_000;

/** `log` counts what it logs, unless the daemon has no admin port. */
type Metrics = { log: Log; hours: Hours; metricsRoute(parts: Parts): Route };

type Parts = { queue: OrderQueue; book: { batches: Pick<Batches, 'names' | 'find'> } };

/**
 * The metrics of one daemon (docs/reference/metrics.md). The state in Redis is read at most once a second. While Redis
 * is away the scrape still answers: with `po_sync_redis_up 0`, without the shared gauges.
 */
export function createMetrics(
  { config, clock, log, self, admin }: DaemonInput,
  store: Store,
): Metrics {
  const { redis, keys } = store;
  const labels = { environment: config.environment };
  const [own, shared] = [new Registry(), new Registry()];
  own.setDefaultLabels(labels);
  shared.setDefaultLabels(labels);
  const sourceOf = async (batch: string) =>
    (await redis.hget(keys.batch(batch), 'source')) ?? undefined;
  const metrics = createOwnMetrics({ registry: own, version: self.version, sourceOf });
  countSpans(own, log.tracer);
  if (admin) collectProcessMetrics(own);
  const show = createSharedMetrics(shared, config);
  const showGuarantee = createGuaranteeGauges(shared);
  const countLetters = createOpenLetterCount(store);
  const countInDoubt = createDoubtCount(store);

  async function read(queue: OrderQueue) {
    const { settle } = config.delivery;
    const [, state] = await Promise.all([timePing(), readSharedState(store, queue, settle)]);
    return state;
  }

  async function readCounts() {
    const [{ oldest }, inDoubtForPerson] = await Promise.all([countLetters(), countInDoubt()]);
    return { inDoubtForPerson, oldestDeadLetter: oldest?.since };
  }

  async function timePing(): Promise<void> {
    const began = clock.monotonic();
    await redis.ping();
    metrics.redis.roundTrip(clock.monotonic() - began);
  }

  function metricsRoute({ queue, book }: Parts): Route {
    const current = sharedRead(() => read(queue), clock);
    // Apart from the others, because it looks at folders: a share that hangs is no Redis that is away.
    const unreadable = sharedRead(
      async () => unreadableBatches(await newestBatches(book.batches)),
      clock,
    );
    // The first count reads every batch.
    const counted = sharedRead(readCounts, clock);
    return {
      method: 'GET',
      path: '/metrics',
      needs: 'metrics',
      async handle() {
        // Commands to a Redis that is not reachable would wait.
        const all = async () => await Promise.all([current(), unreadable(), counted()]);
        const [state, files, sums] = redis.status === 'ready' ? await all() : [];
        metrics.redis.up(state !== undefined);
        if (state !== undefined) {
          show({ state, files, counted: sums });
          showGuarantee(state);
        }
        const pages = [
          await own.metrics(),
          ...(state === undefined ? [] : [await shared.metrics()]),
        ];
        return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: pages.join('\n') };
      },
    };
  }

  const hours = createHours(store);
  return {
    log: withWatchers(log, { meter: admin ? hours.counted(metrics.meter) : undefined }),
    hours,
    metricsRoute,
  };
}

/** Scrapes share a reading that is running or fresh. Undefined when it fails, or is late; then it is awaited, not repeated. */
function sharedRead<Result>(
  read: () => Promise<Result>,
  clock: Clock,
): () => Promise<Result | undefined> {
  let last: { at: number; result: Result } | undefined;
  let running: Promise<Result | undefined> | undefined;

  async function readOnce(): Promise<Result | undefined> {
    try {
      const result = await read();
      last = { at: clock.monotonic(), result };
      return result;
    } catch {
      return undefined;
    } finally {
      running = undefined;
    }
  }

  return async () => {
    if (last !== undefined && clock.monotonic() - last.at < FRESH) return last.result;
    running ??= readOnce();
    const timer = new AbortController();
    const late = delay(TIME_LIMIT, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      return await Promise.race([running, late]);
    } finally {
      timer.abort();
    }
  };
}
