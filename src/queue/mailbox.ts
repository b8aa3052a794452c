import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, type Job as QueueJob, Worker } from 'bullmq';
import { growingWait } from '../core/backoff/backoff.ts';
import { toError } from '../core/errors.ts';
import type { Store } from '../redis/store.ts';
import { closeWorker, within } from './queue.ts';

/** Messages to one receiver. Each is delivered at least once, also when this process dies, by any process that has the receiver. */
export type Mailbox<Message> = AsyncDisposable & {
  /** Keeps a message until it is delivered. One put under an `id` that is known for less than a day is the same one. */
  put(id: string, message: Message): Promise<void>;
};

/** One attempt to deliver; `error` where it failed. No attempt follows the last one. */
export type Attempt = { attempt: number; isLast: boolean; error?: Error };

type MailboxDeps<Message> = {
  store: Pick<Store, 'plain' | 'keys'>;
  /** What makes the receiver another one. It may be a secret. */
  receiver: string;
  /** Throws if the receiver does not take the message. */
  deliver(message: Message, signal: AbortSignal): Promise<void>;
  onAttempt(message: Message, attempt: Attempt): void;
  onTrouble(error: Error): void;
  retry?: { attempts: number; initial: number };
};

type Kept = { message: unknown };

/** Waits of 1, 2, 4 … 256 s: about nine minutes. */
const RETRY = { attempts: 10, initial: 1_000 };
/** Seconds and number of messages that are remembered. */
const REMEMBERED = { age: 86_400, count: 1_000 };
/** Milliseconds between two attempts at most. */
const LONGEST_WAIT = 300_000;
/** Milliseconds for what is left when this process ends; the rest is delivered after the next start. */
const DRAIN = 3_000;
const LOOK_EVERY = 50;

/** Opens the mailbox of one receiver. Its failures delay its own messages only, which keep their order. */
export function openMailbox<Message>(deps: MailboxDeps<Message>): Mailbox<Message> {
  const { store, receiver, deliver, onAttempt, onTrouble, retry = RETRY } = deps;
  const shared = { connection: store.plain, prefix: store.keys.prefix };
  const name = `notices-${digestOf(receiver)}`;
  const queue = new Queue<Kept>(name, {
    ...shared,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: {
      removeOnComplete: REMEMBERED,
      removeOnFail: REMEMBERED,
    },
  });
  const stopping = new AbortController();

  async function run(job: QueueJob<Kept>): Promise<void> {
    const message = job.data.message as Message;
    const attempt = job.attemptsStarted;
    const isLast = attempt >= retry.attempts;
    try {
      await deliver(message, stopping.signal);
    } catch (thrown) {
      const error = toError(thrown);
      onAttempt(message, { attempt, isLast, error });
      if (isLast) throw error;
      // Later messages wait behind it: the end of something never comes before its beginning.
      await worker.rateLimit(growingWait(attempt, { ...retry, max: LONGEST_WAIT }));
      throw Worker.RateLimitError();
    }
    onAttempt(message, { attempt, isLast });
  }

  const worker = new Worker<Kept>(name, run, {
    ...shared,
    concurrency: 1,
    runRetryDelay: 1_000,
    // A message may lose its process any number of times.
    maxStalledCount: 1_000_000,
  });
  queue.on('error', onTrouble);
  worker.on('error', onTrouble);

  async function untilEmpty(): Promise<void> {
    while ((await countWaiting(queue)) > 0) await delay(LOOK_EVERY, undefined, { ref: false });
  }

  return {
    async put(id, message) {
      // BullMQ refuses colons in a name.
      await queue.add('notice', { message }, { jobId: `n-${digestOf(id)}` });
    },
    async [Symbol.asyncDispose]() {
      if (store.plain.status === 'ready') await within(DRAIN, untilEmpty());
      await within(DRAIN, worker.pause(true));
      stopping.abort(new Error('po-sync is stopping'));
      await closeWorker(worker, onTrouble);
      await queue.close();
    },
  };
}

function countWaiting(queue: Queue): Promise<number> {
  return queue.getJobCountByTypes('waiting', 'active');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
