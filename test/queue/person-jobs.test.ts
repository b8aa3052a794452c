import { expect, it } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { openPersonJobs } from '../../src/queue/person-jobs.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { until } from '../support/until.ts';

it('a job that a process hands back is done by the next one, once, and its end is kept', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, keys } = stack.use(await openTestRedis());
  const plain = await connectRedis(server.url, { plain: true });
  stack.defer(() => plain.disconnect());
  const { log } = capturedLog();
  const jobs = stack.use(openPersonJobs<string, { text: string }>({ store: { plain, keys }, log }));
  expect(await jobs.find('1234')).toBeUndefined();
  for (const data of ['first', 'never']) await jobs.add('1234', data);
  await jobs.add('5678', 'wrong');
  expect(await jobs.find('1234')).toEqual({});

  const stops: string[] = [];
  {
    await using _ = jobs.work(async (id, data) => void stops.push(`${id} ${data}`));
    await until('a step', () => stops.length > 0);
  }
  expect(stops[0]).toBe('1234 first');
  expect(await jobs.find('1234')).toEqual({});

  await using _ = jobs.work(async (_id, text) => {
    if (text === 'wrong') throw new PoSyncError('plan-unknown', 'No.');
    return { text };
  });
  await until('the ends', async () => (await jobs.find('5678'))?.error);
  expect(await jobs.find('1234')).toEqual({ end: { text: 'first' } });
  expect((await jobs.find('5678'))?.error).toMatchObject({ code: 'plan-unknown', message: 'No.' });
});
