import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { CONFIGURATION, isAlive, openPm2Place } from '../support/pm2-place.ts';
import { processesIn } from '../support/processes-in.ts';
import { until } from '../support/until.ts';

test('pm2 sees the ready signal, a reload finishes the calls in flight, and a stop leaves nothing', async () => {
  await using place = await openPm2Place();
  const { pm2, stored } = place;
  await pm2.run('start', CONFIGURATION);
  const first = await pm2.show();
  const log = () => readFile(first.pm2_env.pm_out_log_path, 'utf8');
  expect(first.pm2_env.status).toBe('online');
  await until('the log says so, too', async () => (await log()).includes('daemon ready'));

  const numbers = await place.drop('orders.csv', 100);
  await until('the delivery is under way', () => stored().length >= 10);
  expect(stored().length).toBeLessThan(numbers.length);
  await pm2.run('reload', 'po-sync');
  const second = await pm2.show();
  expect(second).toMatchObject({ pm2_env: { status: 'online', restart_time: 1 } });
  expect(second.pid).not.toBe(first.pid);

  const { results } = await place.settled();
  expect(stored().sort()).toEqual(numbers.sort());
  // Nothing was cut off: no order needed a second attempt.
  expect(results).toHaveLength(numbers.length);
  expect(
    results.filter(({ outcome, attempts }) => outcome !== 'accepted' || attempts !== '1'),
  ).toEqual([]);

  await pm2.run('delete', 'po-sync');
  expect(isAlive(second.pid)).toBe(false);
  expect(await processesIn(place.at('data', 'redis'))).toEqual([]);
  await until('the log says so, too', async () => (await log()).includes('private redis stopped'));
  // It was ended by the daemon as the last thing, never by pm2.
  expect(await log()).not.toContain('private Redis is gone');
});
