import { pino } from 'pino';
import type { ListedOrder } from '../../src/api/list.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { LIST_INCOMPLETE, OPERATOR } from '../../src/ledger/pause-cause.ts';
import { mayBeThere } from '../../src/ledger/state-machine/decision.ts';
import { cancelBatch, releaseBatch } from '../../src/operate/batches/cancel-batch.ts';
import {
  type Listed,
  retryDeadLetters,
} from '../../src/operate/dead-letters/retry-dead-letters.ts';
import { pauseDelivery, resumeDelivery } from '../../src/operate/delivery/pause-delivery.ts';
import {
  createReconciliation,
  type Reconciliation,
} from '../../src/operate/delivery/reconcile-ledger.ts';
import type { OperatorContext } from '../../src/operate/operator-context.ts';
import { withClosing } from '../../src/operate/orders/appearances.ts';
import { createDiscard } from '../../src/operate/orders/discard-order.ts';
import {
  findInDoubt,
  type Resolution,
  resolveOrder,
} from '../../src/operate/orders/resolve-order.ts';
import { refOf } from '../../src/order/dead-letter.ts';
import type { LetterRef } from '../../src/order/letter-id.ts';
import {
  deadLettersInProgress,
  type FoundDeadLetter,
} from '../../src/put-away/dead-letters-in-progress.ts';
import { lookingList } from '../../src/reconcile/list-proof.ts';
import { takeLease } from '../../src/redis/lease.ts';
import { createRedisTime } from '../../src/redis/time.ts';
import { configOf } from './config.ts';
import type { Files } from './files.ts';
import { type Draft, goodItems, ordersIn } from './orders.ts';
import type { PartnerApi } from './partner-api.ts';
import { partnerOf } from './partner-calls.ts';
import type { Random } from './random.ts';
import { KEYS as keys } from './setting.ts';
import { standingOf } from './standing.ts';
import type { Store } from './store.ts';
import { clockOf, journalsOn, type Surroundings } from './surroundings.ts';
import type { Host } from './timeline.ts';

/** What people did that changes what may happen to an order. */
export type Deeds = {
  /** How many more times an order may be stored: a person sent it although the API has it. */
  resent: Map<string, number>;
  /** A person said that the API has the order, and it does not. */
  wronglyConfirmed: Set<string>;
  discarded: Set<string>;
  cancelled: Set<string>;
  /** Files whose cancellation was confirmed, and when. */
  cancelledAt: Map<string, number>;
  /** Orders that somebody wanted sent again. */
  wanted: Set<string>;
  actions: number;
  /** Since when delivery is certainly paused by a person. */
  pausedAt: number | undefined;
};

export type People = ReturnType<typeof openPeople>;

type Deps = { around: Omit<Surroundings, 'disk'>; api: PartnerApi; files: Files; store: Store };

/** The store as a command opens it. */
type Desk = { context: OperatorContext; read: Parameters<typeof createReconciliation>[1] };

type Action =
  | 'retry'
  | 'resolve'
  | 'discard'
  | 'cancel'
  | 'release'
  | 'pause'
  | 'resume'
  | 'reconcile'
  | 'prove'
  | 'fix';

const ACTIONS: readonly Action[] = [
  'retry',
  'resolve',
  'discard',
  'cancel',
  'release',
  'pause',
  'resume',
  'fix',
  'fix',
];
const NEVER = new AbortController().signal;
const log = pino({ level: 'silent' });

/** The people of a world: they run commands at any time, make mistakes, correct fix files and drop them back. */
export function openPeople({ around, api, files, store }: Deps) {
  const { timeline, random, weather, story, onTrouble } = around;
  const deeds: Deeds = {
    resent: new Map(),
    wronglyConfirmed: new Set(),
    discarded: new Set(),
    cancelled: new Set(),
    cancelledAt: new Map(),
    wanted: new Set(),
    actions: 0,
    pausedAt: undefined,
  };
  let expected = 0;

  for (let i = 0; i < weather.people; i += 1)
    plan(random.between(0, 1.2 * weather.calmAt), random.pick(ACTIONS));
  if (weather.reconciles) plan(random.between(0, 1.2 * weather.calmAt), 'reconcile');

  function plan(at: number, action: Action): void {
    expected += 1;
    timeline.plan(at, () => {
      expected -= 1;
      act(action);
    });
  }

  /** Somebody runs a command, in a separate process that may die like any other. */
  function act(action: Action): void {
    const host: Host = {
      name: `p${++deeds.actions}`,
      alive: true,
      frozenUntil: 0,
      slept: 0,
      skew: 0,
    };
    story?.(host.name, action);
    perform(action, host).catch((error: unknown) => {
      if (!(error instanceof PoSyncError)) onTrouble(error);
    });
  }

  async function perform(action: Action, host: Host): Promise<void> {
    const desk = await sitDown(host, around);
    switch (action) {
      case 'retry':
        return retry(desk);
      case 'resolve':
        return resolve(desk);
      case 'discard':
        return discard(desk);
      case 'cancel':
        return cancel(desk);
      case 'release':
        return releaseAll(desk);
      case 'pause':
        plan(timeline.now() + random.between(1_000, 600_000), 'resume');
        await pauseDelivery(undefined, desk.context);
        deeds.pausedAt ??= timeline.now();
        return;
      case 'resume':
        deeds.pausedAt = undefined;
        await resumeDelivery(desk.context);
        deeds.pausedAt = undefined;
        return;
      case 'reconcile':
        return reconcile(desk);
      case 'prove':
        return prove(desk);
      case 'fix':
        return fix(desk);
    }
  }

  /** The order that the list must show first is in doubt: a person looks whether the API has it. */
  async function prove({ context }: Desk): Promise<void> {
    const number = doubtfulTurn(store);
    if (number === undefined || api.isExpected(number)) return;
    const wanted: Resolution = api.has(number) ? 'accepted' : 'resend';
    if (wanted === 'resend') deeds.wanted.add(number);
    await resolveOrder(await findInDoubt(number, context.ledger, wanted), wanted, context);
  }

  async function retry(desk: Desk): Promise<void> {
    const page = some(await openDeadLetters(desk));
    const listed = await listedOf(page, desk);
    for (const { purchaseOrderNumber } of page) deeds.wanted.add(purchaseOrderNumber);
    await retryDeadLetters(page, listed, desk.context);
  }

  /** The person looks into the API, and reports what is there; sometimes wrongly. */
  async function resolve({ context }: Desk): Promise<void> {
    const [key = ''] = random.pick([
      ...store.ranked(keys.doubt),
      ...store.fields(keys.waiting),
      ['PO-0', ''],
    ]);
    const isCareless = random.chance(weather.mistakes);
    const wanted: Resolution = random.pick(['accepted', 'resend']);
    const entry = await findInDoubt(key, context.ledger, wanted);
    const { purchaseOrderNumber: number } = entry.order;
    // Where that order is not there, no list ever shows it.
    const errs = isCareless && store.hget(keys.listProof, 'turn') !== number;
    const isThere = api.counts.has(number);
    const mayCome = isThere || api.has(number) || api.isExpected(number);
    const isRight = wanted === 'accepted' ? isThere : !mayCome && entry.state !== 'conflict';
    if (!isRight && !errs) return;
    if (!isRight && wanted === 'accepted') deeds.wronglyConfirmed.add(number);
    if (!isRight && wanted === 'resend')
      deeds.resent.set(number, 1 + (deeds.resent.get(number) ?? 0));
    story?.('somebody', `resolves ${number} as ${wanted}${isRight ? '' : ', wrongly'}`);
    if (wanted === 'resend') deeds.wanted.add(number);
    await resolveOrder(entry, wanted, context);
  }

  async function discard(desk: Desk): Promise<void> {
    const discarding = createDiscard(desk.context);
    for (const deadLetter of some(await openDeadLetters(desk))) {
      deeds.discarded.add(deadLetter.purchaseOrderNumber);
      await discarding.discard(deadLetter);
    }
  }

  /** Any batch, also the wrong one. */
  async function cancel({ context }: Desk): Promise<void> {
    const file = files.all.length > 0 ? random.pick(files.all) : undefined;
    const batch = file && (await context.batches.find(file.batch));
    if (batch === undefined || batch.state === 'done') return;
    deeds.cancelled.add(batch.batch);
    await cancelBatch(batch, context);
    deeds.cancelledAt.set(batch.batch, timeline.now());
  }

  async function releaseAll({ context }: Desk): Promise<void> {
    for (const name of await context.batches.held()) {
      const batch = await context.batches.find(name);
      if (batch) await releaseBatch(batch, context);
    }
  }

  /** As the command does. */
  async function reconcile({ context, read }: Desk): Promise<void> {
    const reconciliation: Reconciliation = createReconciliation(context, read);
    const pending = await reconciliation.pending();
    const wait = (pending?.notBefore ?? 0) - context.store.time.now();
    if (wait > 0) await context.clock.sleep(wait, NEVER);
    await reconciliation.repair(await reconciliation.compare(), pending?.epoch);
  }

  /** A fix file comes back: corrected, unchanged, or partly; now and then twice. */
  async function fix(desk: Desk): Promise<void> {
    const reports = files.all.filter(({ batch }) => files.deadLetters(batch).length > 0);
    if (reports.length === 0) return;
    const { batch, orders } = random.pick(reports);
    const isUntouched = random.chance(0.2);
    const drafts = files.deadLetters(batch).map((letter): Draft => {
      const { purchaseOrderNumber: number, location } = letter;
      const order = orders.find((one) => one.number === number && one.place.line === location.line);
      const items = order?.valid ? order.order.items : undefined;
      const from = refOf(letter);
      const same: Draft = { number, from, ...(items ? { items } : {}) };
      return isUntouched ? same : corrected(same, from);
    });
    const kept = drafts.filter(() => isUntouched || random.chance(0.9));
    const times = random.chance(0.3) ? 2 : 1;
    for (let i = 0; i < times; i += 1) {
      const at = timeline.now() + i * random.between(0, 120_000);
      files.drop(at, () => ({ orders: ordersIn(kept), isFixFile: true }));
    }
    await desk.context.store.time.sync();
  }

  function corrected(same: Draft, from: LetterRef): Draft {
    const { number } = same;
    const items = goodItems(weather.rollback === 'none' ? 1 + random.below(2) : 1);
    if (number === '' || random.chance(0.2))
      return { number: `${number}-fixed-${random.below(3)}`, items, from };
    return random.chance(0.2) ? same : { number, items, from };
  }

  /** The dead letters that a person sees. */
  async function openDeadLetters({ context }: Desk): Promise<FoundDeadLetter[]> {
    const found: FoundDeadLetter[] = [];
    for (const { batch, source, report } of files.all) {
      if (report === undefined) continue;
      const closings = await context.batches.closings(batch);
      const shown = files.deadLetters(batch).map((one) => withClosing(one, closings));
      found.push(
        ...shown
          .filter(({ closed }) => !closed)
          .map((one) => ({ ...one, batch, source, file: batch })),
      );
    }
    for await (const deadLetter of deadLettersInProgress(context)) found.push(deadLetter);
    return found;
  }

  async function listedOf(page: readonly FoundDeadLetter[], { read }: Desk): Promise<Listed> {
    const numbers = new Set(page.map(({ purchaseOrderNumber }) => purchaseOrderNumber));
    const listed = new Map<string, ListedOrder>();
    const end = await read((order) => {
      if (numbers.has(order.purchaseOrderNumber)) listed.set(order.purchaseOrderNumber, order);
    });
    return end.kind === 'complete' ? listed : undefined;
  }

  function some<T>(all: readonly T[]): T[] {
    return random.chance(0.3) ? [...all] : all.filter(() => random.chance(0.5));
  }

  return {
    deeds: deeds as Readonly<Deeds>,
    /** Somebody is still to act. */
    stillToCome: () => expected > 0,
    /** Delivery or a batch waits for a person. */
    areNeeded: () =>
      store.hget(keys.breaker, `hold:${OPERATOR}`) !== null || store.members(keys.held).size > 0,
    /** Delivery waits for an order in doubt that the list must show first. */
    areAsked: () => doubtfulTurn(store) !== undefined,
    prove: () => act('prove'),
    /** In the end nothing waits that a person stopped. */
    tidy(): void {
      act('release');
      act('resume');
    },
  };
}

/** The order that the list was to show first, where it did not and nobody knows whether it is there. */
function doubtfulTurn(store: Store): string | undefined {
  const text = store.hget(keys.breaker, 'hold:list');
  const { code, turn = '' } = JSON.parse(text ?? '{}') as { code?: string; turn?: string };
  const { entry } = standingOf(store, turn);
  return code === LIST_INCOMPLETE && entry !== undefined && mayBeThere(entry) ? turn : undefined;
}

async function sitDown(host: Host, around: Omit<Surroundings, 'disk'>): Promise<Desk> {
  const { weather, breach, jobs, random } = around;
  const { redis, ask } = around.connections.connect(host);
  const clock = clockOf(host, around);
  const time = await createRedisTime(redis, keys, clock);
  const store = {
    redis,
    plain: redis,
    keys,
    time,
    private: true,
    isSteady: () => true,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const nothing = () => undefined;
  const config = configOf(weather, breach);
  const { probe } = config.delivery;
  const owner = host.name;
  const context: OperatorContext = {
    config,
    store,
    owner,
    clock,
    log,
    stopping: NEVER,
    ledger: createLedger({
      redis,
      keys,
      identity: { known: () => ({ epoch: '', sequence: 0 }), saw: nothing },
    }),
    batches: createBatches({ redis, keys, owner }),
    queue: jobs.open(ask),
    breaker: createCircuitBreaker({ store, clock, probe, onPaused: nothing, onResumed: nothing }),
    journals: journalsOn(host, around),
    operator: { who: 'eve', did: (what) => ({ at: time.now(), who: 'eve', what }) },
  };
  return { context, read: readerOf(context, host, around, random) };
}

/** The list is never read while a daemon reads it. */
function readerOf(
  context: OperatorContext,
  host: Host,
  around: Omit<Surroundings, 'disk'>,
  random: Random,
) {
  const partner = partnerOf(host, around, context.store, context.clock);
  const { redis } = context.store;
  const { settle } = context.config.delivery;
  const { now } = context.store.time;
  const list = lookingList(context.store, { mode: 'prove', settle }, partner.list, now);
  const read: Desk['read'] = async (onOrder) => {
    for (;;) {
      const lease = await takeLease(redis, keys.lease('verification'), context.owner, 15_000);
      if (lease === undefined) await context.clock.sleep(random.between(200, 2_000), NEVER);
      else {
        try {
          return await list(onOrder);
        } finally {
          await lease.release();
        }
      }
    }
  };
  return read;
}
