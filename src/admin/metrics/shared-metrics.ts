import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../core/clock.ts';
import { oneAtATime, within } from '../../core/semaphore.ts';
import { allPauses } from '../../deliver/breaker-view.ts';
import type { Batches } from '../../ledger/batches/batches.ts';
import { unreadableBatches } from '../../operate/batches/list-batches.ts';
import { newestBatches } from '../../operate/delivery/read-status.ts';
import { filesNotTaken, livingDaemons } from '../../operate/heartbeat.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import { readGuarantee } from '../../reconcile/guarantee.ts';
import type { Store } from '../../redis/store.ts';
import { gauge } from './own-metrics.ts';

/** What the gauges are read from. */
export type Shared = Store & {
  queue: OrderQueue;
  config: Config;
  batches: Pick<Batches, 'names' | 'find'>;
};

/** The value of a gauge, or one for each value of its label; without one it has no series. */
type Values = number | undefined | Readonly<Record<string, number>>;

type Row = readonly [
  name: string,
  help: string,
  label: string,
  read: (from: Shared) => Values | Promise<Values>,
];

const GAUGES: readonly Row[] = [
  [
    'orders_unsettled',
    'Orders without an outcome.',
    '',
    async ({ redis, keys }) => {
      const [due, doubt] = await Promise.all([redis.zcard(keys.due), redis.zcard(keys.doubt)]);
      return due + doubt;
    },
  ],
  [
    'orders_in_doubt',
    "Orders that wait for the API's list after an attempt without an answer.",
    '',
    ({ redis, keys }) => redis.zcard(keys.doubt),
  ],
  [
    'queue_jobs',
    'Jobs that wait for a worker.',
    'state',
    async ({ queue }) => ({ waiting: await queue.waiting() }),
  ],
  [
    'dead_letter_orders',
    'Order numbers with open dead letters.',
    '',
    ({ redis, keys }) => redis.hlen(keys.waiting),
  ],
  [
    'orders_created_twice',
    "Orders that the API's list shows more than once.",
    '',
    ({ redis, keys }) => redis.hlen(keys.listedTwice),
  ],
  [
    'batches',
    'Batches in progress, held, or waiting for their report.',
    'state',
    async ({ redis, keys }) => ({
      active: await redis.scard(keys.active),
      held: await redis.scard(keys.held),
      finished: await redis.scard(keys.finished),
    }),
  ],
  [
    'reports_pending',
    'Reports that wait to be written.',
    '',
    ({ redis, keys }) => redis.scard(keys.finished),
  ],
  [
    'oldest_batch_timestamp_seconds',
    'Claim time of the oldest batch in progress that is not held.',
    '',
    async ({ redis, keys }) => {
      const [oldest] = (await redis.sdiff(keys.active, keys.held)).sort();
      return oldest === undefined ? undefined : seconds(claimTimeOf(oldest));
    },
  ],
  ['daemons', 'Daemons that are alive.', '', async (store) => (await livingDaemons(store)).length],
  [
    'delivery_paused',
    'Delivery is paused for this reason; always 1.',
    'code',
    async ({ redis, keys }) => {
      const pauses = allPauses(await redis.hgetall(keys.breaker));
      return Object.fromEntries(pauses.map(({ code }) => [code, 1]));
    },
  ],
  [
    'token_expiry_timestamp_seconds',
    'Expiry of the current token.',
    '',
    async ({ redis, keys, time }) => {
      const left = await redis.pttl(keys.token);
      return left > 0 ? seconds(time.now() + left) : undefined;
    },
  ],
  [
    'guarantee_holds',
    'Whether an assumption of the guarantee held in the last 30 days: 1 or 0.',
    'assumption',
    async ({ config: { delivery }, ...store }) => {
      const all = await readGuarantee(store, { settle: delivery.settle, now: store.time.now() });
      const known = all.filter(({ holds }) => holds !== null);
      return Object.fromEntries(known.map(({ assumption, holds }) => [assumption, Number(holds)]));
    },
  ],
  [
    'source_last_file_timestamp_seconds',
    'Arrival time of the last file of a source.',
    'source',
    async ({ redis, keys, config: { sources } }) => {
      const heard = await redis.hgetall(keys.heard);
      return Object.fromEntries(
        sources.flatMap(({ name }) => (name in heard ? [[name, Number(heard[name]) / 1_000]] : [])),
      );
    },
  ],
  [
    'source_expected_interval_seconds',
    'The interval expectEvery of a source.',
    'source',
    ({ config: { sources } }) =>
      Object.fromEntries(
        sources.flatMap(({ name, expectEvery }) =>
          expectEvery === undefined ? [] : [[name, expectEvery / 1_000]],
        ),
      ),
  ],
  [
    'unreadable_files',
    'Unreadable files that nobody replaced or dismissed.',
    'source',
    async ({ config, batches }) =>
      bySource(config, unreadableBatches(await newestBatches(batches))),
  ],
  [
    'files_not_taken',
    'Files that a daemon cannot take.',
    'source',
    async ({ config, ...store }) => {
      const all = filesNotTaken(await livingDaemons(store));
      return bySource(
        config,
        all.filter(({ file }) => file !== undefined),
      );
    },
  ],
  [
    'source_unavailable',
    'Whether a daemon cannot read the source: 1 or 0.',
    'source',
    async ({ config, ...store }) => {
      const all = filesNotTaken(await livingDaemons(store));
      return bySource(
        config,
        all.filter(({ file }) => file === undefined),
      );
    },
  ],
];

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);

/** How many are of each source. */
function bySource({ sources }: Config, all: readonly { source: string }[]) {
  return Object.fromEntries(
    sources.map(({ name }) => [name, all.filter(({ source }) => source === name).length]),
  );
}

/** The gauges of what all daemons share, read when they are scraped. */
export function createSharedMetrics(
  registry: Registry,
  shared: () => Shared | Promise<Shared>,
): void {
  for (const [name, help, label, read] of GAUGES) {
    // A read that hangs is not begun again: its commands would pile up.
    const current = oneAtATime(async () => read(await shared()));
    gauge(registry, name, help, label === '' ? [] : [label], async function () {
      const values = await inTime(current());
      if (label === '') this.remove();
      else this.reset();
      if (typeof values === 'number') this.set(values);
      else for (const [of, value] of Object.entries(values ?? {})) this.set({ [label]: of }, value);
    });
  }
}

/** Milliseconds after which a scrape answers without a value. */
const TIME_LIMIT = 2_000;

/** The result of a read; undefined when it fails or is late. */
export const inTime = <Result>(read: Promise<Result>): Promise<Result | undefined> =>
  within(TIME_LIMIT, read, systemClock).catch(() => undefined);
