import { Job, Queue, WaitingError, Worker } from 'bullmq';
import { type ErrorDocument, errorDocument, PoSyncError } from '../core/errors.ts';
import { redisTrouble } from '../log/events/delivery.ts';
import type { Context, Store } from '../redis/store.ts';
import { closeWorker } from './queue.ts';

const QUEUE = 'people';
/** Seconds that the end of a job is kept. */
const KEPT = 86_400;
/** Of a job that failed for another reason than what it is about, such as a Redis that was away. */
const AGAIN = { attempts: 10, backoff: { type: 'fixed', delay: 2_000 } };

/** What has become of a job; neither, while it is not finished. */
export type JobState<End> = { end?: End; error?: ErrorDocument };

export type PersonJobs<Data, End> = AsyncDisposable & {
  /** Adds a job; one that exists already stays as it is. */
  add(id: string, data: Data): Promise<void>;
  /** Undefined: there is none. */
  find(id: string): Promise<JobState<End> | undefined>;
  /** Takes up jobs in this process, one at a time. */
  work(run: Work<Data, End>): AsyncDisposable;
};

/** Continues a job from where it was. Undefined: the process stops, and another one continues it. */
type Work<Data, End> = (id: string, data: Data) => Promise<End | undefined>;

/** Jobs of people: each continues after a restart, in whichever process takes it up. */
export function openPersonJobs<Data, End>({
  store: { plain, keys },
  log,
}: Pick<Context, 'log'> & { store: Pick<Store, 'plain' | 'keys'> }): PersonJobs<Data, End> {
  const shared = { connection: plain, prefix: keys.prefix };
  const onTrouble = ({ message }: Error) => redisTrouble(log, { reason: message });
  let opened: Queue<{ data: Data }> | undefined;
  /** Most commands need none. */
  function queue(): Queue<{ data: Data }> {
    opened ??= new Queue(QUEUE, { ...shared, streams: { events: { maxLen: 100 } } }).on(
      'error',
      onTrouble,
    );
    return opened;
  }
  // BullMQ refuses plain numbers.
  const nameOf = (id: string) => `p-${id}`;
  let isWorking = false;

  return {
    async add(id, data) {
      const ends = { removeOnComplete: { age: KEPT }, removeOnFail: true, ...AGAIN };
      await queue().add('act', { data }, { jobId: nameOf(id), ...ends });
    },
    async find(id) {
      const job = await Job.fromId<{ data: Data }, { end: End } | { error: ErrorDocument }>(
        queue(),
        nameOf(id),
      );
      return job && (job.finishedOn === undefined ? {} : job.returnvalue);
    },
    work(run) {
      if (isWorking) return NOTHING;
      isWorking = true;
      const worker = new Worker<{ data: Data }>(
        QUEUE,
        (job, token) => runJob(job, token, (data) => run(job.id?.slice(2) ?? '', data)),
        { ...shared, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 1_000_000 },
      );
      worker.on('error', onTrouble);
      return {
        async [Symbol.asyncDispose](): Promise<void> {
          await closeWorker(worker, onTrouble);
          isWorking = false;
        },
      };
    },
    [Symbol.asyncDispose]: async () => opened?.close(),
  };
}

const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: async () => undefined };

async function runJob<Data, End>(
  job: Job<{ data: Data }>,
  token: string | undefined,
  run: (data: Data) => Promise<End | undefined>,
): Promise<{ end: End } | { error: ErrorDocument }> {
  try {
    const end = await run(job.data.data);
    if (end !== undefined) return { end };
  } catch (error) {
    if (error instanceof PoSyncError) return { error: errorDocument(error) };
    throw error;
  }
  await job.moveToWait(token);
  throw new WaitingError();
}
