import { type Logger, pino } from 'pino';
import { type Admit, openAdmission } from '../../src/admit.ts';
import type { ListedOrder } from '../../src/api/list.ts';
import type { TokenSource } from '../../src/api/token.ts';
import type { Clock } from '../../src/clock.ts';
import { backoff } from '../../src/deliver/backoff.ts';
import { openGate } from '../../src/deliver/gate.ts';
import { openHealth } from '../../src/deliver/health.ts';
import { openHeldBatches } from '../../src/deliver/held-batches.ts';
import { openPermits } from '../../src/deliver/permits.ts';
import { unlimited } from '../../src/deliver/rate-limit.ts';
import { watchRefusals } from '../../src/deliver/refusals.ts';
import { openDelivery, sendingSpan } from '../../src/delivery.ts';
import { openAdoption } from '../../src/ledger/adopt.ts';
import { type Batches, openBatches } from '../../src/ledger/batches.ts';
import { openIdentity } from '../../src/ledger/identity.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Policy } from '../../src/ledger/state.ts';
import { openTold } from '../../src/ledger/told.ts';
import type { Trace } from '../../src/ledger/trace-file.ts';
import { openSweeper } from '../../src/queue/sweeper.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { openRedisTime } from '../../src/redis/redis-time.ts';
import { openCanaries } from '../../src/verify/canaries.ts';
import { openTakeOver } from '../../src/verify/take-over.ts';
import { openVerifier } from '../../src/verify/verifier.ts';
import type { Connections } from './connection.ts';
import type { Jobs, Worker } from './jobs.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import { blindCanaries, blindList, naiveHttp, weakLedger } from './safeguards.ts';
import { type Story, toldLedger } from './story.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Breach, Weather } from './weather.ts';

export const KEYS = keysOf('staging', 'https://api.example.com/api/v1');

/** Redis and every wall clock begin here. */
export const EPOCH = 1_700_000_000_000;

/** What a process does again and again. */
export type Chore = 'sweep' | 'verify' | 'takeOver' | 'house';

/** A daemon from its start to its death. */
export type Machine = Worker & {
  host: Host;
  isUp(): boolean;
  admit: Admit;
  batches: Batches;
  /** One round of a chore, unless one is under way. */
  tick(chore: Chore): void;
  /** The connection to Redis came back. */
  reconnected(): void;
  /** How far it saw the ledger come. */
  knows(): Trace;
};

type Deps = {
  timeline: Timeline;
  random: Random;
  weather: Weather;
  breach: Breach | undefined;
  connections: Connections;
  jobs: Jobs;
  network: Network;
  token(): string;
  /** The ledger's name in Redis just now. */
  life(): string;
  /** What outlives the process on its disk. */
  disk: { trace: Trace };
  onUp(): void;
  story: Story | undefined;
  onTrouble(error: unknown): void;
};

const SILENT: Logger = pino({ level: 'silent' });
const CALLS = 4;
const CHUNKS = 2;
const PARTNER = { environment: 'staging', baseUrl: 'https://api.example.com/api/v1' };

/** Starts a daemon: the program's own parts, with a simulated clock, Redis, queue and network. */
export function startMachine(host: Host, deps: Deps): Machine {
  const { timeline, random, weather, breach, network, jobs } = deps;
  const { redis, ask } = deps.connections.connect(host);
  const clock = clockOf(host, timeline, random);
  const stopping = new AbortController().signal;
  const log = SILENT;
  const keys = KEYS;
  const owner = host.name;
  let up = false;
  let chunks = 0;
  let keeping = false;
  const busy = new Set<Chore>();
  let knows = (): Trace => deps.disk.trace;
  const started = start();

  async function start() {
    const time = await openRedisTime(redis, clock);
    const policy = policyOf(weather, breach, random);
    const partner = { ...PARTNER, timeout: weather.timeout };
    const wait = sendingSpan(weather.timeout) + policy.settle;
    const identity = openIdentity({ redis, keys, time, wait, trace: traceOn(host, deps) });
    knows = identity.known;
    const saw = (seq: number) => {
      identity.saw(seq);
      keepTrace();
    };
    // The daemon looks each second; here it looks a second after there is something to see.
    const keepTrace = () => {
      if (keeping) return;
      keeping = true;
      const store = () => {
        keeping = false;
        identity.store().catch(deps.onTrouble);
      };
      timeline.plan(timeline.now() + 1000, store, host);
    };
    const forgetful = { ...identity, known: () => ({ life: deps.life(), seq: 0 }) };
    const unnoticed = breach === 'rollback unnoticed';
    const strong = openLedger({ redis, keys, identity: unnoticed ? forgetful : { ...identity, saw } });
    const ledger = toldLedger(weakLedger(strong, breach, policy), host.name, deps.story);
    const queue = jobs.open(ask);
    const tokens = tokensOf(host, deps);
    const gate = openGate({
      ...{ redis, keys, clock, time, probe: { initial: 5_000, max: 60_000 } },
      ...{ onPaused: () => undefined, onResumed: () => undefined },
    });
    const batches = openBatches({ redis, keys, owner });
    const blind = breach === 'no evidence rule';
    const sound = openCanaries({ redis, keys, clock, time });
    const canaries = blind ? blindCanaries(sound) : sound;
    const refusals = watchRefusals({ share: 0.5, of: 40 });
    const held = openHeldBatches(batches, refusals.forget);
    const sighted = (onOrder: (order: ListedOrder) => void) => network.list(host, onOrder);
    const list = blind ? (onOrder: (order: ListedOrder) => void) => blindList(sighted, onOrder) : sighted;
    const http = breach === 'naive retry' ? naiveHttp(network.open(host)) : network.open(host);
    const establish = async () => {
      if (unnoticed && up) return;
      const standing = await identity.establish();
      if (standing !== 'same') deps.story?.(host.name, `finds the ledger ${standing}`);
      await gate.refresh(true);
    };
    const { deliverChunk } = openDelivery({
      ...{ ledger, queue, tokens, http, partner, gate, clock, time, policy, log, stopping },
      ...{ held, refusals, health: openHealth({ gate, tokens, policy }), rate: unlimited, permits: openPermits(CALLS) },
      onRolledBack: establish,
      onAccepted: (number) => void canaries.remember(number).catch(deps.onTrouble),
    });
    const verifier = openVerifier({ ledger, queue, redis, keys, time, owner, policy, log, canaries, list });
    const takeOver = openTakeOver({
      ...{ ledger, redis, keys, clock, time, owner, policy, log, refresh: () => gate.refresh(true), list },
      adopt: openAdoption({ redis, keys }),
    });
    const sweeper = openSweeper({ ledger, queue, time, policy, log, isHeld: held.has });
    const admit = openAdmission({
      ...{ ledger, queue, time, clock, turns: openPermits(1), nameOf: batches.nameOf },
      ...{ isCancelled: batches.isCancelled, throughput: { count: () => undefined, fewSeconds: () => 1e9 } },
      ...{ told: openTold({ redis, keys }), shown: async () => undefined },
    });
    await establish();
    await takeOver.first(stopping);
    up = true;
    deps.story?.(host.name, 'is up');
    deps.onUp();
    const chores: Record<Chore, () => Promise<unknown>> = {
      sweep: sweeper.tick,
      verify: verifier.tick,
      takeOver: takeOver.tick,
      house: () => Promise.all([time.sync(), establish(), identity.store()]),
    };
    return { deliverChunk, admit, batches, chores, establish };
  }

  async function work(chunk: Parameters<Worker['work']>[0]): Promise<readonly string[]> {
    chunks += 1;
    try {
      return await (await started).deliverChunk(chunk);
    } finally {
      chunks -= 1;
    }
  }

  function tick(chore: Chore): void {
    if (busy.has(chore)) return;
    busy.add(chore);
    started
      .then(({ chores }) => chores[chore]())
      .catch(deps.onTrouble)
      .finally(() => busy.delete(chore));
  }

  return {
    host,
    work,
    tick,
    ask,
    isUp: () => up && host.alive,
    isFree: () => up && chunks < CHUNKS,
    admit: async (...args) => (await started).admit(...args),
    batches: openBatches({ redis, keys, owner }),
    knows: () => knows(),
    reconnected: () => void started.then(({ establish }) => establish()).catch(deps.onTrouble),
  };
}

function clockOf(host: Host, timeline: Timeline, random: Random): Clock {
  return {
    now: () => EPOCH + timeline.now(),
    monotonic: () => timeline.now() - host.slept,
    // Timers of a busy machine are late; waits of the program may all be longer than they say.
    sleep: (ms) =>
      new Promise((resolve) => timeline.plan(timeline.now() + ms * random.between(1, 12), () => resolve(), host)),
  };
}

function policyOf({ attempts, settle: wanted }: Weather, breach: Breach | undefined, random: Random): Policy {
  const settle = breach === 'no settle' ? 0 : wanted;
  const span = { initial: 2_000, max: 60_000 };
  return { attempts, settle, onDoubt: 'verify', backoff: (used) => backoff(used, span, random.next) };
}

function traceOn(host: Host, { timeline, random, disk }: Deps) {
  const write = (trace: Trace) =>
    new Promise<void>((resolve) => {
      timeline.plan(
        timeline.now() + random.between(0, 30),
        () => {
          disk.trace = trace;
          resolve();
        },
        host,
      );
    });
  return { read: async () => disk.trace, write };
}

/** One token for all; it takes a moment to come, and is renewed when it was taken back. */
function tokensOf(host: Host, { timeline, random, token }: Deps): TokenSource {
  let current: string | undefined;
  return {
    async get() {
      if (current === undefined) {
        await new Promise<void>((resolve) => timeline.plan(timeline.now() + random.between(5, 500), resolve, host));
        current = token();
      }
      return { ...PARTNER, value: current, mark: current };
    },
    async invalidate(mark) {
      if (current === mark) current = undefined;
    },
  };
}
