import { Registry } from 'prom-client';
import { oneAtATime } from '../../core/semaphore.ts';
import type { Batches } from '../../ledger/batches/batches.ts';
import { type Log, withWatchers } from '../../log/log.ts';
import type { DaemonInput } from '../../operate/daemon.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import type { Store } from '../../redis/store.ts';
import type { Route } from '../http/route.ts';
import { createHours, type Hours } from '../picture/hours.ts';
import { collectProcessMetrics, createOwnMetrics } from './own-metrics.ts';
import { createSharedMetrics, inTime } from './shared-metrics.ts';

/** `log` counts what it logs, unless the daemon has no admin port. */
type Metrics = { log: Log; hours: Hours; metricsRoute(parts: Parts): Route };

type Parts = { queue: OrderQueue; book: { batches: Pick<Batches, 'names' | 'find'> } };

/**
 * The metrics of one daemon (docs/reference/metrics.md). While Redis is not reachable the scrape still answers: with
 * `po_sync_redis_up 0`, without the shared gauges.
 */
export function createMetrics({ config, log, self, admin }: DaemonInput, store: Store): Metrics {
  const { redis, keys } = store;
  const [own, shared] = [new Registry(), new Registry()];
  for (const one of [own, shared]) one.setDefaultLabels({ environment: config.environment });
  const sourceOf = async (batch: string) =>
    (await redis.hget(keys.batch(batch), 'source')) ?? undefined;
  const ping = oneAtATime(() => redis.ping());
  const isUp = async () => redis.status === 'ready' && (await inTime(ping())) !== undefined;
  const meter = createOwnMetrics({ registry: own, version: self.version, sourceOf, isUp });
  if (admin) collectProcessMetrics(own);

  function metricsRoute({ queue, book: { batches } }: Parts): Route {
    createSharedMetrics(shared, () => ({ ...store, queue, config, batches }));
    return {
      method: 'GET',
      path: '/metrics',
      needs: 'metrics',
      async handle() {
        // Commands to a Redis that is not reachable would wait.
        const all = redis.status === 'ready' ? [own, shared] : [own];
        const pages = await Promise.all(all.map((registry) => registry.metrics()));
        return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: pages.join('\n') };
      },
    };
  }

  const hours = createHours(store);
  return {
    log: withWatchers(log, { meter: admin ? hours.counted(meter) : undefined }),
    hours,
    metricsRoute,
  };
}
