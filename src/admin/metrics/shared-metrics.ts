import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.ts';
import { allPauses } from '../../deliver/breaker-view.ts';
import { filesNotTaken, livingDaemons } from '../../operate/heartbeat.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { OrderQueue } from '../../queue/queue.ts';
import { type Guarantee, readGuarantee } from '../../reconcile/guarantee.ts';
import type { Store } from '../../redis/store.ts';
import { type Counted, createCountedGauges, gauge, setOrRemove } from './own-metrics.ts';

/** The state that all daemons of an environment share. Times are milliseconds of the Redis clock. */
type SharedState = {
  unsettled: number;
  inDoubt: number;
  waitingJobs: number;
  /** Order numbers with open dead letters. */
  deadLetters: number;
  /** Orders that the API's list showed more than once. */
  createdTwice: number;
  guarantee: Guarantee[];
  batches: { active: number; held: number; finished: number };
  reportsPending: number;
  /** When the oldest batch that is neither finished nor held was claimed. */
  oldestClaim: number | undefined;
  daemons: number;
  notTaken: { source: string; file?: string }[];
  /** Codes of the pauses that last. */
  pauses: string[];
  tokenEnds: number | undefined;
  /** Source → when its last file arrived that is no fix file. */
  heard: Record<string, string>;
};

/** Reads the shared state with commands that take constant time, except for the names of batches in progress. */
export async function readSharedState(
  { redis, keys, time }: Store,
  queue: OrderQueue,
  settle: number,
): Promise<SharedState> {
  const [
    due,
    inDoubt,
    waitingJobs,
    dead,
    twice,
    guarantee,
    active,
    held,
    finished,
    open,
    living,
    fields,
    left,
    heard,
  ] = await Promise.all([
    redis.zcard(keys.due),
    redis.zcard(keys.doubt),
    queue.waiting(),
    redis.hlen(keys.waiting),
    redis.hlen(keys.listedTwice),
    readGuarantee({ redis, keys }, { settle, now: time.now() }),
    redis.scard(keys.active),
    redis.scard(keys.held),
    redis.scard(keys.finished),
    redis.sdiff(keys.active, keys.held),
    livingDaemons({ redis, keys }),
    redis.hgetall(keys.breaker),
    redis.pttl(keys.token),
    redis.hgetall(keys.heard),
  ]);
  return {
    unsettled: due + inDoubt,
    inDoubt,
    waitingJobs,
    deadLetters: dead,
    createdTwice: twice,
    guarantee,
    batches: { active, held, finished },
    reportsPending: finished,
    oldestClaim:
      open.length === 0 ? undefined : claimTimeOf(open.reduce((a, b) => (a < b ? a : b))),
    daemons: living.length,
    notTaken: filesNotTaken(living),
    pauses: allPauses(fields).map(({ code }) => code),
    tokenEnds: left > 0 ? time.now() + left : undefined,
    heard,
  };
}

/** `files`: the batches of unreadable files; undefined when they could not be counted in time, as `counted`. */
type Shown = {
  state: SharedState;
  files: readonly { source: string }[] | undefined;
  counted: Counted | undefined;
};

/** The gauges of the shared state. Every daemon reports the same values: take their maximum. */
export function createSharedMetrics(registry: Registry, { sources }: Pick<Config, 'sources'>) {
  const gauges = defineGauges(registry);
  const showCounted = createCountedGauges(registry);
  const seen = new Set<string>();

  function showSources({ state, files }: Shown): void {
    const { notTaken, unavailable, unreadable, lastFile, expected } = gauges;
    for (const { name } of sources)
      for (const metric of [notTaken, unavailable]) metric.set({ source: name }, 0);
    for (const { source, file } of state.notTaken)
      (file === undefined ? unavailable : notTaken).inc({ source });
    unreadable.reset();
    for (const { name } of files === undefined ? [] : sources) unreadable.set({ source: name }, 0);
    for (const { source } of files ?? []) unreadable.inc({ source });
    for (const { name, expectEvery } of sources) {
      const at = state.heard[name];
      if (at !== undefined) lastFile.set({ source: name }, Number(at) / 1_000);
      if (expectEvery !== undefined) expected.set({ source: name }, expectEvery / 1_000);
    }
  }

  return (shown: Shown): void => {
    const { state, counted } = shown;
    gauges.unsettled.set(state.unsettled);
    gauges.inDoubt.set(state.inDoubt);
    gauges.jobs.set({ state: 'waiting' }, state.waitingJobs);
    gauges.dead.set(state.deadLetters);
    gauges.twice.set(state.createdTwice);
    for (const [name, count] of Object.entries(state.batches))
      gauges.batches.set({ state: name }, count);
    gauges.reports.set(state.reportsPending);
    gauges.daemons.set(state.daemons);
    setOrRemove(gauges.oldest, state.oldestClaim);
    setOrRemove(gauges.token, state.tokenEnds);
    for (const code of state.pauses) seen.add(code);
    for (const code of seen) gauges.paused.set({ code }, state.pauses.includes(code) ? 1 : 0);
    showCounted(counted);
    showSources(shown);
  };
}

function defineGauges(registry: Registry) {
  const define = (name: string, help: string, labels: string[] = []) =>
    gauge(registry, name, help, labels);
  return {
    unsettled: define('orders_unsettled', 'Orders without an outcome.'),
    inDoubt: define(
      'orders_in_doubt',
      "Orders that wait for the API's list after an attempt without an answer.",
    ),
    jobs: define('queue_jobs', 'Jobs that wait for a worker.', ['state']),
    dead: define('dead_letter_orders', 'Order numbers with open dead letters.'),
    twice: define('orders_created_twice', "Orders that the API's list shows more than once."),
    batches: define('batches', 'Batches in progress, held, or waiting for their report.', [
      'state',
    ]),
    reports: define('reports_pending', 'Reports that wait to be written.'),
    oldest: define(
      'oldest_batch_timestamp_seconds',
      'Claim time of the oldest batch in progress that is not held.',
    ),
    daemons: define('daemons', 'Daemons that are alive.'),
    paused: define('delivery_paused', 'Whether delivery is paused for this reason: 1 or 0.', [
      'code',
    ]),
    token: define('token_expiry_timestamp_seconds', 'Expiry of the current token.'),
    lastFile: define(
      'source_last_file_timestamp_seconds',
      'Arrival time of the last file of a source.',
      ['source'],
    ),
    expected: define('source_expected_interval_seconds', 'The interval expectEvery of a source.', [
      'source',
    ]),
    unreadable: define('unreadable_files', 'Unreadable files that nobody replaced or dismissed.', [
      'source',
    ]),
    notTaken: define('files_not_taken', 'Files that a daemon cannot take.', ['source']),
    unavailable: define('source_unavailable', 'Whether a daemon cannot read the source: 1 or 0.', [
      'source',
    ]),
  };
}

/** The gauges of the guarantee; an assumption of which too little was seen has no series. */
export function createGuaranteeGauges(registry: Registry) {
  const holds = gauge(
    registry,
    'guarantee_holds',
    'Whether an assumption of the guarantee held in the last 30 days: 1 or 0.',
    ['assumption'],
  );
  const measured = gauge(
    registry,
    'guarantee_measured_seconds',
    'A2: how late calls without an answer were stored. A3: how late lists showed created orders.',
    ['assumption'],
  );
  return ({ guarantee }: Pick<SharedState, 'guarantee'>): void => {
    holds.reset();
    measured.reset();
    for (const { assumption, holds: isHeld, measured: ms } of guarantee) {
      if (isHeld !== null) holds.set({ assumption }, isHeld ? 1 : 0);
      if (typeof ms === 'number' && ['A2', 'A3'].includes(assumption))
        measured.set({ assumption }, ms / 1_000);
    }
  };
}
