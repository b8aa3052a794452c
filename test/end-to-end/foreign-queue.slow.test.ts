import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

/** A daemon, and its queue as a user interface of BullMQ opens it. */
async function open() {
  await using stack = new AsyncDisposableStack();
  const redis = await openDatabase();
  const place = stack.use(await openWorkplace({ redis }));
  const daemon = place.start(['start']);
  await until('the start', () => daemon.out().includes('"event":"daemon-ready"'));
  const connection = await connectRedis(redis, { plain: true });
  stack.defer(() => connection.disconnect());
  const { prefix } = keysOf('staging');
  const queue = new Queue('orders', { connection, prefix, skipMetasUpdate: true });
  stack.defer(() => queue.close());
  const kept = stack.move();
  return { place, daemon, queue, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

it('a queue that another program pauses is an operator pause, which resume ends', async () => {
  await using rig = await open();
  const { place, daemon, queue } = rig;
  await queue.pause();
  await until('the pause', async () => {
    const { pauses } = JSON.parse((await place.run(['status', '--json'])).out);
    return pauses.some(
      ({ code, reason }: { code: string; reason: string }) =>
        code === 'operator' &&
        reason === 'paused by another program: it paused the queue of BullMQ in Redis',
    );
  });
  expect(daemon.out()).toContain('"event":"queue-changed","settings":["paused"]');
  await place.drop('orders.csv', csvOf(20));
  expect((await place.run(['resume'])).out).toContain('Pause ended');
  await until('all orders', () => place.stored().size === 20);
  expect(await queue.isPaused()).toBe(false);
});

it.each<[string, (queue: Queue) => Promise<unknown>, string[]]>([
  ['number of jobs at a time', (queue) => queue.setGlobalConcurrency(0), ['concurrency']],
  [
    'rate',
    (queue) => queue.setGlobalRateLimit(1, 3_600_000).then(() => queue.rateLimit(3_600_000)),
    ['max', 'duration'],
  ],
])(
  'a queue of which another program limits the %s sends orders all the same',
  async (_, act, settings) => {
    await using rig = await open();
    const { place, daemon, queue } = rig;
    await act(queue);
    await place.drop('orders.csv', csvOf(20));
    await until('all orders', () => place.stored().size === 20);
    await until('the log', () =>
      daemon.out().includes(`"event":"queue-changed","settings":${JSON.stringify(settings)}`),
    );
  },
);
