import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, type Job as QueueJob, WaitingError, Worker } from 'bullmq';
import type { Job } from '../ledger/job.ts';
import { jobTakenBack, queueChanged, redisTrouble } from '../log/events/delivery.ts';
import type { Redis } from '../redis/connect.ts';
import type { Context, Store } from '../redis/store.ts';

/** The result of a job: the numbers that were not processed; empty if all were. */
export type Work = (job: Job) => Promise<readonly string[]>;

export type OrderQueue = ReturnType<typeof openQueue>;

type JobData = { batch: string; numbers: string[] };

/** Jobs at a time, and milliseconds that the calls of one may take. */
export type WorkLimits = { concurrency: number; timeout: number };

/** Milliseconds after the last call for recording its outcome. */
const DRAIN_MARGIN = 5_000;
/** Milliseconds for closing the connections of a worker without work. */
const CLOSING = 10_000;
const STEADY_EVERY = 50;
/** What BullMQ reports when a job's lock ran out, and another worker has the job or has completed it. */
const LOST_JOB =
  /^((Missing lock|Missing key|Lock mismatch|could not renew lock) for job|Job \S+ is not in the active state)/;
const QUEUE = 'orders';
const KEEP_NOTHING = { count: 0 };
/** What BullMQ itself writes into the settings of a queue; po-sync uses none of the others. */
const OWN_SETTINGS = new Set(['opts.maxLenEvents', 'version']);

/**
 * The queue of one environment. BullMQ only distributes jobs to workers. The sweeper restores lost jobs from the ledger,
 * and the ledger stops a job that runs twice. A job never has a delay, because a delay depends on the clock of a host; the
 * ledger knows when an order is due. BullMQ duplicates the plain connection for its waits.
 */
export function openQueue({
  store,
  log,
}: Pick<Context, 'log'> & { store: Pick<Store, 'plain' | 'keys'> }) {
  const { plain: redis, keys } = store;
  const onTrouble = ({ message }: Error) =>
    LOST_JOB.test(message) ? jobTakenBack(log, {}) : redisTrouble(log, { reason: message });
  const shared = { connection: redis, prefix: keys.prefix };
  const queue = new Queue<JobData>(QUEUE, {
    ...shared,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  queue.on('error', onTrouble);

  /** A name for a new job. BullMQ refuses plain numbers and colons. */
  function nameJob(): string {
    return `c-${randomBytes(9).toString('base64url')}`;
  }

  /** Adds jobs to be run as soon as a worker is free; one that exists already stays as it is. */
  async function add(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return;
    await queue.addBulk(
      jobs.map(({ id, name, batch, numbers }) => ({
        name,
        data: { batch, numbers: [...numbers] },
        opts: { jobId: id },
      })),
    );
  }

  /** Which of these jobs the queue still has. */
  async function has(ids: readonly string[]): Promise<boolean[]> {
    const found = await Promise.all(ids.map((id) => redis.exists(queue.toKey(id))));
    return found.map((one) => one === 1);
  }

  /** Undoes what another program, such as a user interface of BullMQ, set in the queue: a pause or a limit, which nobody would see. */
  async function undoForeign(): Promise<void> {
    const all = await redis.hkeys(queue.toKey('meta'));
    const settings = all.filter((name) => !OWN_SETTINGS.has(name));
    if (settings.length === 0) return;
    queueChanged(log, { settings: settings.join(', ') });
    await redis.hdel(queue.toKey('meta'), ...settings);
    await queue.removeRateLimitKey();
    // Wakes the workers, also where it was not paused.
    await queue.resume();
  }

  return {
    nameJob,
    add,
    has,
    undoForeign,
    /** How many jobs wait for a worker. */
    waiting: () => queue.getWaitingCount(),
    /** Takes jobs and runs `work` on each; disposing stops. */
    work: (limits: WorkLimits, work: Work) => startWorker(shared, limits, work, onTrouble),
    [Symbol.asyncDispose]: () => queue.close(),
  };
}

function startWorker(
  shared: { connection: Redis; prefix: string },
  { concurrency, timeout }: WorkLimits,
  work: Work,
  onTrouble: (error: Error) => void,
) {
  const running = new Set<Promise<void>>();
  const run = async (job: QueueJob<JobData>, token: string | undefined) => {
    const one = runJob(job, token, work);
    running.add(one);
    await one.finally(() => running.delete(one));
  };
  const worker = new Worker<JobData>(QUEUE, run, {
    ...shared,
    concurrency,
    // Short, so that a dead daemon's jobs come back soon; a live one that loses its lock is stopped by the ledger.
    lockDuration: 10_000,
    stalledInterval: 5_000,
    // Another program may limit the rate; that is undone soon.
    maximumRateLimitDelay: 1_000,
    // After a failed fetch; the default of 15 s would leave a daemon idle that long after one lost command.
    runRetryDelay: 1_000,
    // A job may lose its worker any number of times, because the ledger counts the attempts.
    maxStalledCount: 1_000_000,
    removeOnComplete: KEEP_NOTHING,
    removeOnFail: KEEP_NOTHING,
  });
  worker.on('error', onTrouble);
  return {
    /** Takes no new job and waits for the calls in progress. The remaining work stays in the queue. */
    async [Symbol.asyncDispose](): Promise<void> {
      await worker.pause(true);
      const haveEnded = await within(timeout + DRAIN_MARGIN, Promise.allSettled(running));
      await closeWorker(worker, onTrouble, { isForced: !haveEnded });
    },
  };
}

/** Closes a worker, `isForced` without waiting for its jobs; within a bounded time, whatever Redis does. */
export async function closeWorker(
  worker: Pick<Worker, 'backend' | 'close'>,
  onTrouble: (error: Error) => void,
  { isForced = false } = {},
): Promise<void> {
  await within(CLOSING, untilSteady(worker));
  await within(CLOSING, worker.close(isForced).catch(onTrouble));
}

/** Resolves when no connection of the worker is about to reconnect: close() would cancel that and wait for it forever. */
async function untilSteady({ backend }: Pick<Worker, 'backend'>): Promise<void> {
  // One that never connected is not about to.
  const clients = await Promise.allSettled([backend.client, backend.blockingClient]);
  const statuses = () =>
    clients.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value.status] : []));
  while (!statuses().every((status) => status === 'ready' || status === 'end')) {
    await delay(STEADY_EVERY, undefined, { ref: false });
  }
}

/** False when it took longer than `ms`. */
export async function within(ms: number, task: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isInTime = await Promise.race([task.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}

async function runJob(
  job: QueueJob<JobData>,
  token: string | undefined,
  work: Work,
): Promise<void> {
  const { batch, numbers } = job.data;
  const rest = await work({ id: job.id ?? '', name: job.name, batch, numbers });
  if (rest.length === 0) return;
  await job.updateData({ batch, numbers: [...rest] });
  await job.moveToWait(token);
  throw new WaitingError();
}
