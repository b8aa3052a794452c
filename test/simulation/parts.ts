import { pino } from 'pino';
import { type Admit, createAdmission } from '../../src/admit/admit.ts';
import { createPartner, type Partner } from '../../src/api/partner.ts';
import { createTokenSource } from '../../src/api/token.ts';
import type { Config } from '../../src/config/config.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { createDelivery } from '../../src/deliver/delivery.ts';
import { type Batches, createBatches } from '../../src/ledger/batches/batches.ts';
import { sendingSpan } from '../../src/ledger/entry.ts';
import { createIdentity, type Identity } from '../../src/ledger/identity.ts';
import type { Job } from '../../src/ledger/job.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createSweeper } from '../../src/queue/sweeper.ts';
import { createCanaries } from '../../src/reconcile/canaries.ts';
import { createLedgerRebuild } from '../../src/reconcile/ledger-rebuild.ts';
import { createVerifier } from '../../src/reconcile/verifier.ts';
import { createRedisTime } from '../../src/redis/connect.ts';
import type { Context } from '../../src/redis/store.ts';
import type { Connection } from './connection.ts';
import { blindCanaries, blindList, naiveHttp, weakLedger } from './safeguards.ts';
import { AUTH_HOST, KEYS as keys, PARTNER } from './setting.ts';
import { toldLedger } from './story.ts';
import { checkpointOn, clockOf, policyOf, type Surroundings } from './surroundings.ts';
import type { Host } from './timeline.ts';

/** What a process does again and again. */
export type Chore = 'sweep' | 'verify' | 'rebuild' | 'house';

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

const CALLS = 4;
const NEVER = new AbortController().signal;
const log = pino({ level: 'silent' });

/** Wires the program's own parts to a simulated clock, Redis, queue and network, as its daemon does. */
export async function openParts(host: Host, around: Surroundings, { redis, ask }: Connection): Promise<Parts> {
  const { weather, onTrouble } = around;
  const clock = clockOf(host, around);
  const time = await createRedisTime(redis, clock);
  const policy = policyOf(around);
  const wait = sendingSpan(weather.timeout) + policy.settle;
  const identity = createIdentity({ redis, keys, time, wait, checkpoint: checkpointOn(host, around) });
  const ledger = ledgerOf(host, around, redis, identity, policy);
  const queue = around.jobs.open(ask);
  const batches = createBatches({ redis, keys, owner: host.name });
  const probe = { initial: 5_000, max: 60_000 };
  const store = { redis, plain: redis, keys, time, private: true, [Symbol.asyncDispose]: async () => undefined };
  const breaker = createCircuitBreaker({ store, clock, probe, onPaused: nothing, onResumed: nothing });
  const context: Context = { config: configOf(weather.timeout), store, owner: host.name, clock, log, stopping: NEVER };
  const canaries = around.breach === 'no evidence rule' ? blindCanaries(openCanariesOf()) : openCanariesOf();
  const base = { ledger, queue, redis, keys, clock, time, policy, log, owner: host.name };
  let established = false;

  function openCanariesOf() {
    return createCanaries({ redis, keys, clock, time });
  }

  async function establish(): Promise<void> {
    if (around.breach === 'rollback unnoticed' && established) return;
    const standing = await identity.establish();
    if (standing !== 'same') around.story?.(host.name, `finds the ledger ${standing}`);
    await breaker.refresh(true);
    established = true;
  }

  const http = around.network.open(host);
  const target = { ...PARTNER, authUrl: `https://${AUTH_HOST}`, tokenPath: '/oauth2/token' } as const;
  const credentials = { clientId: 'client', clientSecret: 'secret' };
  const tokens = createTokenSource({ store, http, clock, owner: host.name, target, credentials });
  const partner = createPartner({
    http: around.breach === 'naive retry' ? naiveHttp(http) : http,
    tokens,
    endpoint: { ...PARTNER, timeout: weather.timeout },
  });
  const { deliverJob, held } = createDelivery({
    context,
    book: { ledger, batches, identity, policy },
    queue,
    partner,
    breaker,
    on: {
      rolledBack: establish,
      accepted: (number) => void canaries.remember(number).catch(onTrouble),
      outcome: nothing,
    },
  });
  const list = around.breach === 'no evidence rule' ? blind(partner.list) : partner.list;
  const verifier = createVerifier({ ...base, store, canaries, list, onVerdict: learn });
  const rebuild = createLedgerRebuild({ ...base, store, list, refresh: () => breaker.refresh(true) });

  /** As `createReconciliation` does. */
  async function learn(answer: { httpStatus?: number } | undefined, wasCreated: boolean): Promise<void> {
    const status = answer?.httpStatus ?? 0;
    if (status < 200 || status > 299) return;
    await breaker.learnAnswers(wasCreated);
    if (!wasCreated) return;
    await breaker.accepted();
    await breaker.reset();
  }

  const sweeper = createSweeper({ ...base, isHeld: held.has });
  const { admit } = createAdmission({
    store: { redis, keys, time },
    ledger,
    queue,
    batches,
    clock,
    log,
    throughput: { fewSeconds: () => 1e9 },
    retention: { shown: async () => undefined },
  });
  const chores: Parts['chores'] = {
    sweep: sweeper.tick,
    verify: verifier.tick,
    rebuild: rebuild.tick,
    house: () => Promise.all([time.sync(), establish(), identity.store()]),
  };
  const prepare = () => rebuild.first(NEVER);
  return { deliverJob, admit, batches, chores, establish, prepare, known: identity.known };
}

/** The part of the configuration that delivery reads. */
function configOf(timeout: number): Config {
  const environment = { ...PARTNER, authUrl: PARTNER.baseUrl, tokenPath: 'auto', protected: false } as const;
  const delivery = { concurrency: CALLS, timeout, refusalHold: { share: 0.5, of: 40 } };
  return { environment: 'staging', environments: { staging: environment }, delivery } as unknown as Config;
}

function nothing(): void {}

/** The ledger as this world breaks it, with a trace on the disk a second after each change, as the daemon keeps it. */
function ledgerOf(
  host: Host,
  around: Surroundings,
  redis: Connection['redis'],
  identity: Identity,
  policy: Parameters<typeof weakLedger>[2],
) {
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
  const seen = breach === 'rollback unnoticed' ? forgetful : { ...identity, saw };
  const strong = createLedger({ redis, keys, identity: seen });
  return toldLedger(weakLedger(strong, breach, policy), host.name, around.story);
}

function blind(list: Partner['list']): Partner['list'] {
  return (onOrder) => blindList(list, onOrder);
}
