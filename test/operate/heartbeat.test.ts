import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { livingDaemons } from '../../src/operate/heartbeat.ts';
import { openTestRedis } from '../support/open-redis.ts';

it('daemons are listed oldest first, and those that may have ended last', async () => {
  await using store = await openTestRedis();
  const { redis, keys } = store;
  const [own, gone] = [process.pid, 2 ** 30];
  for (const [id, pid, since] of [
    ['killed', gone, 1],
    ['new', own, 3],
    ['old', own, 2],
  ] as const) {
    await redis.set(
      keys.daemon(id),
      JSON.stringify({ host: hostname(), pid, since, version: id }),
      'PX',
      10_000,
    );
    await redis.zadd(keys.daemons, since, id);
  }
  expect(
    (await livingDaemons(store)).map(({ version, silentMs }) => [version, silentMs !== undefined]),
  ).toEqual([
    ['old', false],
    ['new', false],
    ['killed', true],
  ]);
});
