import { pino } from 'pino';
import { type Admit, createAdmission } from '../../src/admit/admit.ts';
import type { Partner } from '../../src/api/partner.ts';
import { environmentOf } from '../../src/config/config.ts';
import type { Clock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { createDelivery } from '../../src/deliver/delivery.ts';
import { type Batches, createBatches } from '../../src/ledger/batches/batches.ts';
import { sendingSpan } from '../../src/ledger/entry.ts';
import { policyOf } from '../../src/ledger/environment-ledger.ts';
import type { LedgerIdentity } from '../../src/ledger/identity.ts';
import { createIdentity, type Identity } from '../../src/ledger/identity.ts';
import type { Job } from '../../src/ledger/job.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openHeartbeat } from '../../src/operate/heartbeat.ts';
import { createReplay } from '../../src/put-away/replay-decisions.ts';
import { createCanaries } from '../../src/reconcile/canaries.ts';
import { createLedgerRebuild, createTakeIn } from '../../src/reconcile/ledger-rebuild.ts';
import { createListProof } from '../../src/reconcile/list-proof.ts';
import { isAway, learnFrom } from '../../src/reconcile/reconciliation.ts';
import { createVerifier } from '../../src/reconcile/verifier.ts';
import type { Context } from '../../src/redis/store.ts';
import { createRedisTime, type RedisTime } from '../../src/redis/time.ts';
import { configOf } from './config.ts';
import type { Connection } from './connection.ts';
import { partnerOf } from './partner-calls.ts';
import {
  blindCanaries,
  blindList,
  hopefulList,
  weakBreaker,
  weakLedger,
  withoutReach,
} from './safeguards.ts';
import { KEYS as keys } from './setting.ts';
import { createSettling } from './settling.ts';
import { toldLedger, watchedLedger } from './story.ts';
import { checkpointOn, clockOf, journalsOn, type Surroundings } from './surroundings.ts';
import type { Host } from './timeline.ts';
import type { Breach } from './weather.ts';

/** What a process does again and again. */
export type Chore =
  | 'sweep'
  | 'verify'
  | 'prove'
  | 'rebuild'
  | 'settle'
  | 'house'
  | 'clock'
  | 'heartbeat';

/** The program's parts in one process. */
export type Parts = {
  deliverJob(job: Job): Promise<readonly string[]>;
  admit: Admit;
  batches: Batches;
  chores: Record<Chore, () => Promise<unknown>>;
  establish: () => Promise<void>;
  /** Before the first order: what the API has already. */
  prepare(): Promise<void>;
  known: Identity['known'];
};

const NEVER = new AbortController().signal;
const log = pino({ level: 'silent' });

/** Wires the program's own parts to a simulated clock, Redis, queue and network, as its daemon does. */
export async function openParts(
  host: Host,
  around: Surroundings,
  { redis, ask, isSteady }: Connection,
): Promise<Parts> {
  const { weather, onTrouble } = around;
  const clock = clockOf(host, around);
  const time = await timeOf(redis, clock, around.breach);
  const config = configOf(weather, around.breach);
  const policy = policyOf(config);
  const wait = sendingSpan(weather.timeout) + policy.settle;
  const identity = createIdentity({
    redis,
    keys,
    time,
    wait,
    checkpoint: checkpointOn(host, around),
  });
  const seen = seenBy(host, around, identity);
  const ledger = ledgerOf(host, around, redis, seen, policy);
  const queue = around.jobs.open(ask);
  const batches = createBatches({ redis, keys, owner: host.name, identity: seen });
  const { probe } = config.delivery;
  const store = {
    redis,
    plain: redis,
    keys,
    time,
    private: true,
    isSteady,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const strong = createCircuitBreaker({
    store,
    clock,
    probe,
    onPaused: nothing,
    onResumed: nothing,
  });
  const breaker = weakBreaker(strong, around.breach);
  const context: Context = { config, store, owner: host.name, clock, log, stopping: NEVER };
  const canaries =
    around.breach === 'no evidence rule' ? blindCanaries(openCanariesOf()) : openCanariesOf();
  const base = { ledger, clock, policy, log, owner: host.name };
  let established = false;

  function openCanariesOf() {
    return createCanaries({ redis, keys, clock, time, settle: policy.settle });
  }

  async function establish(): Promise<void> {
    if (around.breach === 'rollback unnoticed' && established) return;
    const standing = await identity.establish();
    if (standing !== 'same') around.story?.(host.name, `finds the ledger ${standing}`);
    await breaker.refresh(true);
    established = true;
    await recall();
  }

  /** What people decided, before delivery continues. */
  async function recall(): Promise<void> {
    const { epoch } = identity.known();
    if (around.breach !== 'no journal') await replay();
    await redis.hset(keys.identity, 'recalled', epoch);
  }

  const partner = partnerOf(host, around, store, clock);
  const { deliverJob, sweep, held } = createDelivery({
    context,
    book: { ledger, batches, identity, policy },
    queue,
    partner,
    breaker,
    on: {
      rolledBack: establish,
      accepted: (...order) => void canaries.remember(...order).catch(onTrouble),
      outcome: nothing,
    },
  });
  const list = weakList(partner.list, around.breach);
  const refresh = () => breaker.refresh(true);
  const proof = createListProof({
    store,
    ledger,
    list,
    rules: { mode: environmentOf(config).list, isProtected: false, settle: policy.settle },
    owner: host.name,
    takeIn: createTakeIn({ store, ledger, policy, log }),
    canaries,
    on: { refresh, watch: (read) => read, kind: nothing, cut: nothing },
  });
  const verifier = createVerifier({
    ...base,
    store,
    canaries,
    proof: around.breach === 'no reach of the list' ? withoutReach(proof) : proof,
    delivery: {
      onVerdict: learnFrom(breaker, store.time),
      isAway: () => isAway(breaker),
    },
  });
  const rebuild = createLedgerRebuild({ ...base, store, proof, refresh }, 'reports');
  const replay = createReplay(
    { config, store, log, side: { ledger, batches } },
    journalsOn(host, around),
  );

  const { admit } = createAdmission({
    store: { redis, keys, time },
    ledger,
    queue,
    batches,
    clock,
    log,
    throughput: { fewSeconds: () => 1e9 },
    readList: 'newLedger',
    retention: { shown: async () => new Set() },
  });
  const disk = () =>
    new Promise<void>((resolve) =>
      around.timeline.plan(around.timeline.now() + around.random.between(0, 50), resolve, host),
    );
  const settling = createSettling({ batches, ledger, files: around.files, disk });
  const heart = openHeartbeat({ ...store, id: host.name, self: { pid: 1, version: '0' } });
  const chores: Parts['chores'] = {
    clock: time.sync,
    heartbeat: heart.beat,
    sweep,
    verify: verifier.tick,
    prove: proof.tick,
    rebuild: rebuild.tick,
    settle: settling.tick,
    house: async () => {
      await Promise.all([establish(), identity.store(), held.refresh()]);
      await time.sync();
    },
  };
  async function prepare(): Promise<void> {
    await (around.breach === 'new ledger reads no list' ? skipList() : rebuild.first(NEVER));
    await breaker.start(true);
  }

  async function skipList(): Promise<void> {
    const pending = await rebuild.pending();
    if (pending?.why === 'new') await rebuild.finish(pending.epoch);
  }

  return { deliverJob, admit, batches, chores, establish, prepare, known: identity.known };
}

function nothing(): void {}

/** To a machine whose own clock seems to run much faster, Redis' clock never runs ahead. */
async function timeOf(
  redis: Connection['redis'],
  clock: Clock,
  breach: Breach | undefined,
): Promise<RedisTime> {
  if (breach !== 'clock steps unnoticed') return createRedisTime(redis, keys, clock);
  const time = await createRedisTime(redis, keys, {
    ...clock,
    sinceBoot: () => 1e6 * clock.sinceBoot(),
  });
  return { ...time, watched: () => Number.POSITIVE_INFINITY };
}

/** The ledger as this world breaks it. */
function ledgerOf(
  host: Host,
  around: Surroundings,
  redis: Connection['redis'],
  identity: LedgerIdentity,
  policy: Parameters<typeof weakLedger>[2],
) {
  const strong = createLedger({ redis, keys, identity });
  const watched = watchedLedger(weakLedger(strong, around.breach, policy), around.witness);
  return toldLedger(watched, host.name, around.story);
}

/**
 * The latest state of the ledger that a process saw, with a checkpoint on the disk a second after each change, as the
 * daemon keeps it.
 */
function seenBy(host: Host, around: Surroundings, identity: Identity): LedgerIdentity {
  const { breach, timeline } = around;
  let keeping = false;

  function keepTrace(): void {
    if (keeping) return;
    keeping = true;
    const store = () => {
      keeping = false;
      identity.store().catch(around.onTrouble);
    };
    timeline.plan(timeline.now() + 1000, store, host);
  }

  function saw(sequence: number): void {
    identity.saw(sequence);
    keepTrace();
  }

  const forgetful = { known: () => ({ epoch: around.epoch(), sequence: 0 }), saw: identity.saw };
  return breach === 'rollback unnoticed' ? forgetful : { ...identity, saw };
}

function weakList(list: Partner['list'], breach: Surroundings['breach']): Partner['list'] {
  if (breach === 'no evidence rule') return (onOrder, query) => blindList(list, onOrder, query);
  if (breach !== 'unreadable list is empty') return list;
  return (onOrder, query) => hopefulList(list(onOrder, query));
}
