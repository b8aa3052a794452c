import { Queue } from 'bullmq';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Job } from '../../src/ledger/job.ts';
import { openQueue } from '../../src/queue/queue.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { openRedisWay } from '../support/redis-way.ts';
import { until } from '../support/until.ts';

const LIMITS = { concurrency: 1, timeout: 1_000 };

afterEach(() => {
  vi.restoreAllMocks();
});

/** A queue on a real Redis. */
async function openRig() {
  await using stack = new AsyncDisposableStack();
  const { server, keys } = stack.use(await openTestRedis());
  const way = stack.use(await openRedisWay(server.port));
  const plain = await connectRedis(way.url, { plain: true });
  stack.defer(() => plain.disconnect());
  const { log, lines } = capturedLog();
  const queue = stack.use(openQueue({ store: { plain, keys }, log }));
  const kept = stack.move();
  return { queue, plain, way, keys, lines, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

describe('the queue', () => {
  it.each<[string, (queue: Queue) => Promise<unknown>]>([
    ['paused', (queue) => queue.pause()],
    ['concurrency', (queue) => queue.setGlobalConcurrency(0)],
    ['max, duration', (queue) => queue.setGlobalRateLimit(1, 3_600_000)],
  ])('works on although another program set: %s', async (settings, act) => {
    await using rig = await openRig();
    const { queue, plain, keys, lines } = rig;
    const options = { connection: plain, prefix: keys.prefix, skipMetasUpdate: true };
    await using theirs = Object.assign(new Queue('orders', options), {
      [Symbol.asyncDispose]: () => theirs.close(),
    });
    await act(theirs);
    await queue.undoForeign();
    const seen: Job[] = [];
    await using _worker = queue.work(LIMITS, async (job) => {
      seen.push(job);
      return [];
    });
    const job = { name: 'orders', batch: 'b1', numbers: ['1'] };
    await queue.add([{ ...job, id: queue.nameJob() }]);
    await queue.add([{ ...job, id: queue.nameJob() }]);
    await until('both jobs', () => seen.length === 2);
    expect(lines.filter(({ event }) => event === 'queue-changed')).toMatchObject([{ settings }]);
  });

  it('gives what a stopping worker hands back to the next one, whatever the clock of the host says', async () => {
    await using rig = await openRig();
    const { queue } = rig;
    const seen: Job[] = [];
    await queue.add([
      { id: queue.nameJob(), name: 'orders 1–3', batch: 'b1', numbers: ['1', '2', '3'] },
    ]);
    const stopping = Promise.withResolvers<void>();
    const first = queue.work(LIMITS, async (job) => {
      seen.push(job);
      // A worker that keeps running would take the job again at once.
      await stopping.promise;
      return ['2', '3'];
    });
    await until('the first run', () => seen.length === 1);
    const stopped = first[Symbol.asyncDispose]();
    stopping.resolve();
    await stopped;
    expect(seen).toHaveLength(1);
    const before = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => before() - 3_600_000);
    await using _ = queue.work(LIMITS, async (job) => {
      seen.push(job);
      return [];
    });
    await until('the second run', () => seen.length === 2);
    expect(seen.map(({ numbers }) => numbers)).toEqual([
      ['1', '2', '3'],
      ['2', '3'],
    ]);
    expect(seen[1]?.id).toBe(seen[0]?.id);
  });

  it('gives jobs to a worker whose first connection was lost before it could be used', async () => {
    await using rig = await openRig();
    const { queue, way } = rig;
    const seen: string[] = [];
    way.cut();
    await using _ = queue.work(LIMITS, async ({ numbers }) => {
      seen.push(...numbers);
      return [];
    });
    await until('a try to connect', () => way.refused() > 5);
    way.open();
    // The worker fetches the first job itself; for the second one it waits with the connection that was lost.
    for (const number of ['1', '2']) {
      const id = queue.nameJob();
      await queue.add([{ id, name: number, batch: 'b1', numbers: [number] }]);
      await until(`job ${number}`, () => seen.includes(number));
      await until('an idle worker', async () => !(await queue.has([id]))[0]);
    }
    expect(seen).toEqual(['1', '2']);
  });

  it('logs a job whose lock ran out as harmless, and not as trouble of Redis', async () => {
    await using rig = await openRig();
    const { queue, plain, keys, lines } = rig;
    const jobs = ['1', '2'].map((number) => ({
      id: queue.nameJob(),
      name: number,
      batch: 'b1',
      numbers: [number],
    }));
    await queue.add(jobs);
    let runs = 0;
    await using _ = queue.work(LIMITS, async ({ id }) => {
      await plain.del(`${keys.prefix}:orders:${id}:lock`);
      runs += 1;
      return [];
    });
    await until('both jobs', () => runs >= 2);
    await until('the line', () => lines.length > 0);
    expect(lines).toMatchObject([{ event: 'job-taken-back', level: 'info' }]);
  });

  it('runs a job once that is added twice', async () => {
    await using rig = await openRig();
    const { queue } = rig;
    const job = { id: queue.nameJob(), name: 'orders 1', batch: 'b1', numbers: ['1'] };
    await queue.add([job]);
    await queue.add([job]);
    expect([await queue.waiting(), await queue.has([job.id, 'c-none'])]).toEqual([
      1,
      [true, false],
    ]);
  });
});
