import { duration, iso } from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import type { NotTaken } from '../../intake/offers.ts';
import type { Batch, Batches } from '../../ledger/batches/batches.ts';
import type { PauseCause } from '../../ledger/pause-cause.ts';
import type { ListFailure } from '../../ledger/wait-cause.ts';
import { asText } from '../../order/sentence.ts';
import { type Guarantee, readGuarantee } from '../../reconcile/guarantee.ts';
import { listState } from '../../reconcile/list-pace.ts';
import { createRebuildRequest } from '../../reconcile/rebuild-request.ts';
import type { Store } from '../../redis/store.ts';
import { answerText, pauseFacts, pauseText } from '../../wording/pause.ts';
import { waitFacts } from '../../wording/wait.ts';
import { type BatchView, batchJson, unreadableFiles, viewOf } from '../batches/list-batches.ts';
import { openDeadLetters } from '../batches/open-dead-letters.ts';
import { filesNotTaken, type LivingDaemon, livingDaemons } from '../heartbeat.ts';
import type { OperatorContext } from '../operator-context.ts';
import {
  type OpenOrders,
  readOpenOrders,
  readWaits,
  type WaitGroup,
} from '../orders/read-waits.ts';
import { canBeTried } from '../orders/wait-of.ts';
import { pauseJson, type ShownPause } from './pause-delivery.ts';
import { type SourceStatus, sourcesOf } from './source-status.ts';

type QueueFigures = { waitingJobs: number; unsettledOrders: number; ordersInDoubt: number };

/** The current state of an environment. Times are milliseconds of the Redis clock. */
export type Status = {
  environment: string;
  baseUrl: string;
  redis: { private: boolean };
  now: number;
  daemons: LivingDaemon[];
  sources: SourceStatus[];
  /** `unreadOrders`: of files that are read as orders before them are delivered; they are not among the unsettled ones. */
  queue: QueueFigures & { unreadOrders: number };
  /** What orders without an outcome wait for, and last the dead letters that wait for a person. */
  waits: WaitGroup[];
  /** Orders with dead letters that wait for a person, each counted once. Rows without an order number count as orders. */
  deadLetters: number;
  /** Of these, orders that were sent again and have no outcome yet: in `waits` they wait for that only. Absent without any. */
  sentAgain?: number;
  /** How the assumptions of the guarantee held in the last 30 days. */
  guarantee: Guarantee[];
  /** Orders in doubt or files wait for a list, and none could be read: since when, and why. */
  listFailure?: ListFailure;
  /** Batches in progress. */
  batches: BatchView[];
  /** Files that could not be read and were not replaced. */
  unreadable: BatchView[];
  /** Files that a running daemon cannot take, and inboxes that it cannot read; absent when there are none. */
  notTaken?: NotTaken[];
  /** Never its value. `unusable`: no call can use it or, where none is stored, request one: the pause that says so. */
  token: { present: boolean; expiresInMs?: number; unusable?: PauseCause };
  pauses: ShownPause[];
};

/** How many batches are searched for the last one of a source and for unreadable files. */
const LOOK_BACK = 200;

/**
 * Reads the state of the environment; changes nothing. `countLetters` counts the open dead letters, and may remember what it
 * counted before; without it, every batch is read.
 */
export async function readStatus(
  context: OperatorContext,
  countLetters: () => Promise<WaitGroup> = () => openDeadLetters(context),
): Promise<Status> {
  const { config, store, batches, breaker } = context;
  const [newest, daemons, open] = await Promise.all([
    newestBatches(batches),
    livingDaemons(context.store),
    readOpenOrders(context),
  ]);
  const [shownQueue, reading, letters, guarantee, { failure }, unreadable, token, pauses, sources] =
    await Promise.all([
      queueOf(context, open),
      readWaits(context, open),
      countLetters(),
      readGuarantee(store, { settle: config.delivery.settle, now: store.time.now() }),
      listState(store),
      unreadableFiles(newest, context),
      tokenStatus(store),
      breaker.reasons(),
      sourcesOf(context, newest, daemons),
    ]);
  const { waits, batches: underWay } = reading;
  const inProgress = await Promise.all(underWay.map((batch) => viewOf(batch, context)));
  const dead = deadLettersOf(letters, { inProgress, underWay });
  const again = Math.min(dead.orders, open.again.size);
  const notTaken = filesNotTaken(daemons);
  return {
    environment: config.environment,
    baseUrl: config.environments[config.environment]?.baseUrl ?? '',
    redis: { private: store.private },
    now: store.time.now(),
    daemons,
    sources,
    queue: { ...shownQueue, unreadOrders: waits.reduce((sum, { unread = 0 }) => sum + unread, 0) },
    waits: dead.orders <= again ? waits : [...waits, { ...dead, orders: dead.orders - again }],
    deadLetters: dead.orders,
    ...(again > 0 && { sentAgain: again }),
    guarantee,
    ...(failure && isListAwaited(shownQueue, waits) && { listFailure: failure }),
    batches: inProgress,
    unreadable,
    ...(notTaken.length > 0 && { notTaken }),
    token: { ...token, ...unusable(pauses) },
    pauses: await shownPauses(pauses, waits, store),
  };
}

/** The dead letters that wait for a person. */
function deadLettersOf(
  letters: WaitGroup,
  { inProgress, underWay }: { inProgress: readonly BatchView[]; underWay: readonly Batch[] },
): WaitGroup {
  // Of a batch that ended before Redis lost that, Redis may count others than the report.
  const forgotten = inProgress.reduce(
    (sum, { batch: { open } }, i) => sum + open - (underWay[i]?.open ?? 0),
    0,
  );
  return { ...letters, orders: Math.max(letters.orders + forgotten, 0) };
}

/** With the next read of the list for those that wait for it. */
async function shownPauses(
  pauses: readonly Pause[],
  waits: readonly WaitGroup[],
  store: Store,
): Promise<ShownPause[]> {
  const request = await createRebuildRequest(store).pending();
  const readAt = request && { nextTryAt: request.notBefore };
  return pauses.map((pause) =>
    withTest(endOf(pause) === 'list' ? { ...pause, ...readAt } : pause, waits),
  );
}

const isListAwaited = ({ ordersInDoubt }: QueueFigures, waits: readonly WaitGroup[]): boolean =>
  ordersInDoubt > 0 || waits.some((one) => one.code === 'file-list');

async function queueOf(
  { queue }: OperatorContext,
  { due: { total: unsettled }, doubt: { total: ordersInDoubt } }: OpenOrders,
): Promise<QueueFigures> {
  const waitingJobs = await queue.waiting();
  return { waitingJobs, unsettledOrders: unsettled + ordersInDoubt, ordersInDoubt };
}

/** Adds whether an automatic pause lasts until an order comes: orders of a held batch, for instance, are not tried. */
export function withTest(pause: Pause, waits: readonly Pick<WaitGroup, 'code'>[]): ShownPause {
  if (endOf(pause) !== 'automatic') return pause;
  return waits.some(({ code }) => canBeTried(code)) ? pause : { ...pause, waitsForOrder: true };
}

/** The newest batches first. */
export async function newestBatches(batches: Pick<Batches, 'names' | 'find'>): Promise<Batch[]> {
  const found = await Promise.all((await batches.names(0, LOOK_BACK)).map(batches.find));
  return found.filter((batch) => batch !== undefined);
}

async function tokenStatus({ redis, keys }: Store): Promise<Status['token']> {
  const left = await redis.pttl(keys.token);
  return left > 0 ? { present: true, expiresInMs: left } : { present: false };
}

/** That no call has a token which it can use, by the pause that says so. */
function unusable(pauses: readonly Pause[]): Pick<Status['token'], 'unusable'> {
  const pause = pauses.find(({ code }) => code.startsWith('token-'));
  return pause === undefined ? {} : { unusable: pause };
}

/** `valid for 41 min`; while a new token is needed, what that means for the one that is stored, or why there is none. */
export function tokenText({ present, expiresInMs = 0, unusable: pause }: Status['token']): string {
  const left = duration(expiresInMs);
  if (pause === undefined)
    return present
      ? `valid for ${left}`
      : 'none stored; a daemon uses the one that it has, or requests one when needed';
  const isRefused = pause.code === 'token-not-accepted';
  const none = isRefused ? 'none that the API accepts' : 'none, and none can be requested now';
  if (!present) return `${none}: ${asText(pauseText(pause))}`;
  if (isRefused) return `not accepted by the API; it would expire in ${left}`;
  return `none can be requested; the one before, which would expire in ${left}, cannot be used`;
}

/** The status in JSON output. */
export function statusJson({
  now,
  daemons,
  sources,
  batches,
  unreadable,
  pauses,
  waits,
  listFailure,
  token: { unusable: pause, ...token },
  ...rest
}: Status) {
  return {
    ...rest,
    token: { ...token, ...(pause && { unusable: pauseFacts(pause) }) },
    now: iso(now),
    ...(listFailure && {
      listFailure: {
        ...listFailure,
        message: answerText(listFailure),
        since: iso(listFailure.since),
      },
    }),
    daemons: daemons.map((daemon) => ({
      ...daemon,
      // The status has them for all daemons.
      notTaken: undefined,
      since: iso(daemon.since),
    })),
    sources: sources.map(({ last, silent, ...source }) => ({
      ...source,
      last: last && { ...last, at: iso(last.at) },
      ...(silent && { silent: { since: iso(silent.since), expectEveryMs: silent.expectEvery } }),
    })),
    batches: batches.map(batchJson),
    unreadable: unreadable.map(batchJson),
    pauses: pauses.map(pauseJson),
    waits: waits.map(({ until, oldest, ...wait }) => ({
      ...waitFacts(wait),
      ...(until === undefined ? {} : { until: iso(until) }),
      ...(oldest === undefined ? {} : { oldest: { ...oldest, since: iso(oldest.since) } }),
    })),
  };
}
