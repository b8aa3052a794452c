import { expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('while Redis is full, nothing is sent, and a command says what to do', async () => {
  await using redis = await startTestRedis();
  await using stack = new AsyncDisposableStack();
  const admin = await connectRedis(redis.adminUrl, { plain: true });
  stack.defer(() => admin.disconnect());
  await using place = await openWorkplace({
    redis: redis.url,
    delivery: ', concurrency: 1',
    faults: { faults: [{ kind: 'delay', by: '100ms' }] },
  });
  place.start(['start']);
  await place.drop('orders.csv', csvOf(100));
  await until('some orders', () => place.stored().size > 5);
  await admin.config('SET', 'maxmemory', '1');
  const { code, out } = await place.run(['pause', '--json']);
  expect([code, JSON.parse(out).error]).toEqual([
    1,
    {
      code: expect.stringMatching(/^redis-/),
      message: expect.any(String),
      remedy: expect.stringMatching(/^Free memory, or raise maxmemory/),
      facts: expect.any(Object),
    },
  ]);
  const sent = place.stored().size;
  for (const command of ['status', 'resume', 'status', 'resume'])
    expect((await place.run([command])).err).toContain('Free memory, or raise maxmemory');
  // At most the calls that were in flight.
  expect(place.stored().size - sent).toBeLessThan(4);
  expect(sent).toBeLessThan(100);
  await admin.config('SET', 'maxmemory', '0');
});
