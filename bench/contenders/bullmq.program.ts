// A plain BullMQ worker: one job per order, posted with undici. A crash between answer and completion sends it twice.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'undici';
import { postWith } from './post-with.ts';
import { readOrderBodies } from './read-order-bodies.ts';
import { serveRuns } from './serve-runs.ts';

const CHUNK = 500;
let opened: { queue: Queue; onDone: (tell: () => void) => void } | undefined;

serveRuns(async ({ file, orders, origin, concurrency, redis = '' }) => {
  opened ??= await open(redis, origin, concurrency);
  const { queue, onDone } = opened;
  return async () => {
    const { promise: all, resolve } = Promise.withResolvers<void>();
    let left = orders;
    onDone(() => {
      left -= 1;
      if (left === 0) resolve();
    });
    let jobs: Parameters<Queue['addBulk']>[0] = [];
    for await (const { number, body } of readOrderBodies(file)) {
      jobs.push({ name: 'order', data: { body }, opts: { jobId: `o-${number}` } });
      if (jobs.length < CHUNK) continue;
      await queue.addBulk(jobs);
      jobs = [];
    }
    await queue.addBulk(jobs);
    await all;
  };
});

async function open(url: string, origin: string, concurrency: number) {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const post = postWith(
    new Pool(origin, { connections: concurrency, pipelining: 1 }),
    'bench-token',
  );
  const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } });
  const worker = new Worker<{ body: string }>('bench', ({ data }) => post(data.body), {
    connection,
    concurrency,
  });
  let done: () => void = () => undefined;
  worker.on('completed', () => done());
  worker.on('failed', (_, error) => process.stderr.write(`${error.message}\n`));
  await worker.waitUntilReady();
  return {
    queue,
    onDone(tell: () => void) {
      done = tell;
    },
  };
}
