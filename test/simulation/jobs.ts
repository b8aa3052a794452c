import type { Job } from '../../src/ledger/job.ts';
import type { OrderQueue } from '../../src/queue/queue.ts';
import type { Connection } from './connection.ts';
import type { Random } from './random.ts';
import type { Store, StoredJob } from './store.ts';
import type { Host, Timeline } from './timeline.ts';
import type { Weather } from './weather.ts';

/** A process that may take jobs: how it runs one, and whether it takes another now. */
export type Worker = {
  host: Host;
  isFree: () => boolean;
  /** Resolves with the numbers it hands back; never, when it dies. */
  work(job: Job): Promise<readonly string[]>;
  ask: Connection['ask'];
};

export type Jobs = ReturnType<typeof openJobs>;

type Deps = {
  store: Store;
  timeline: Timeline;
  random: Random;
  weather: Weather;
  workers: () => readonly Worker[];
};

/** How long a job keeps its lock after its worker went silent, and how long after that somebody looks. */
const LOCK = 10_000;
const LOOKED = 5_000;

/**
 * The queue as BullMQ keeps its promises: a job runs at least once unless it is lost, and twice when its worker was
 * suspended for longer than its lock.
 */
export function openJobs({ store, timeline, random, weather, workers }: Deps) {
  let runs = 0;
  let names = 0;

  /** The queue in the hands of one process. */
  function open(ask: Connection['ask']): OrderQueue {
    return {
      nameJob: () => `c-${++names}`,
      add: (jobs) => ask(() => addAll(jobs)),
      has: (ids) => ask(() => ids.map((id) => store.jobs().has(id))),
      undoForeign: async () => undefined,
      waiting: async () => 0,
      work: () => ({ [Symbol.asyncDispose]: async () => undefined }),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  function addAll(jobs: readonly Job[]): void {
    for (const job of jobs) addOne(job);
  }

  function addOne({ id, name, batch, numbers }: Job): void {
    if (store.jobs().has(id) || random.chance(weather.lostJobs)) return;
    const readyAt = timeline.now();
    store.jobs().set(id, { id, name, batch, numbers, readyAt, lock: undefined });
    timeline.plan(readyAt, offer);
  }

  /** Gives waiting jobs to whoever has a hand free. */
  function offer(): void {
    const now = timeline.now();
    for (const job of store.jobs().values()) {
      if (job.lock !== undefined || job.readyAt > now) continue;
      const free = workers().filter(
        ({ host, isFree }) => host.alive && host.frozenUntil <= now && isFree(),
      );
      if (free.length === 0) return;
      give(job, random.pick(free));
    }
  }

  function give(job: StoredJob, worker: Worker): void {
    const lock = `${worker.host.name}/${++runs}`;
    job.lock = lock;
    watch(job.id, lock, worker.host);
    const { id, name, batch } = job;
    // A chunk that breaks is taken from its worker when its lock ends.
    void worker
      .work({ id, name, batch, numbers: job.numbers })
      .then((rest) => worker.ask(() => finish(id, lock, rest)))
      .catch(() => undefined)
      .finally(offer);
  }

  function finish(id: string, lock: string, rest: readonly string[]): void {
    const job = store.jobs().get(id);
    // Whoever lost its lock may not finish the job.
    if (job?.lock !== lock) return;
    if (rest.length === 0) store.jobs().delete(id);
    else Object.assign(job, { numbers: rest, lock: undefined });
  }

  /** Takes the job back when its worker is gone or frozen. */
  function watch(id: string, lock: string, host: Host): void {
    timeline.plan(timeline.now() + LOCK + random.between(0, LOOKED), () => {
      const job = store.jobs().get(id);
      if (job?.lock !== lock) return;
      if (host.alive && host.frozenUntil <= timeline.now()) return watch(id, lock, host);
      job.lock = undefined;
      offer();
    });
  }

  /** The queue is another one now: locks that nobody keeps up end. */
  function restored(): void {
    for (const job of store.jobs().values()) {
      const { id, lock } = job;
      if (lock === undefined) timeline.plan(job.readyAt, offer);
      else watch(id, lock, { name: '', alive: false, frozenUntil: 0, slept: 0, skew: 0 });
    }
  }

  return { open, offer, restored };
}
