import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID } from '../support/open-sandbox.ts';
import { CONFIGURATION, isAlive, openPm2Place } from '../support/pm2-place.ts';
import { processesIn } from '../support/processes-in.ts';
import { settledBatches } from '../support/settled-batches.ts';
import { until } from '../support/until.ts';

const isReady = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** When the event of this name was logged for the `nth` time; pm2 may write it later. */
function timeOf(event: string, nth: number, file = ''): Promise<string> {
  return until(`${event} in the log`, async () => {
    // The last line may not be complete.
    const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    const line = lines.filter((one) => one.includes(`"event":"${event}"`))[nth - 1];
    return line !== undefined && JSON.parse(line).time;
  });
}

test('several instances share one Redis and one inbox, and neither a reload under load nor an upgrade loses or doubles an order', async () => {
  const port = await freePort(3);
  await using place = await openPm2Place({
    PO_SYNC_INSTANCES: '2',
    PO_SYNC_ADMIN_PORT: String(port),
  });
  const { pm2, stored } = place;
  await pm2.run('start', CONFIGURATION);
  expect(await processesIn(place.at('data', 'redis'))).toHaveLength(1);
  for (const own of [port, port + 1])
    expect((await fetch(`http://127.0.0.1:${own}/readyz`)).status).toBe(200);

  await pm2.run('scale', 'po-sync', '3');
  await pm2.run('restart', CONFIGURATION, '--update-env');
  for (const own of [port, port + 1, port + 2]) await until(`${own} answers`, () => isReady(own));
  const before = await pm2.list();
  expect(before.map(({ pm2_env }) => pm2_env.status)).toEqual(['online', 'online', 'online']);

  const numbers = await place.drop('orders.csv', 600);
  await until('calls are in flight', () => stored().length > 40 && stored().length < 400);
  await pm2.run('reload', 'po-sync', '--parallel', '1');
  // While orders were on their way, the first was ready again before the second stopped.
  const after = await pm2.list();
  const [first, second] = after.map(({ pm2_env }) => pm2_env.pm_out_log_path);
  const ready = await timeOf('daemon-ready', 3, first);
  const stopped = await timeOf('daemon-stopping', 2, second);
  expect(Date.parse(ready)).toBeLessThanOrEqual(Date.parse(stopped));
  expect(after.map(({ pm2_env }) => pm2_env.status)).toEqual(['online', 'online', 'online']);
  expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
  const { report } = await place.settled();
  expect(report.counts).toMatchObject({ orders: numbers.length, accepted: numbers.length });
  expect(stored().sort()).toEqual(numbers.sort());

  await pm2.run('delete', 'po-sync');
  expect(after.filter(({ pid }) => isAlive(pid))).toEqual([]);
  expect(await processesIn(place.at('data', 'redis'))).toEqual([]);
});

test('two environments run beside each other under one pm2, each with its configuration and its name; pm2 save stores no secret', async () => {
  const canary = 'canary-5f1c2d';
  await using place = await openPm2Place({
    PO_SYNC_STAGING_CLIENT_SECRET: canary,
    PO_SYNC_REDIS_URL: `redis://user:${canary}@127.0.0.1:1/0`,
    HTTPS_PROXY: `http://erp:${canary}@127.0.0.1:1`,
    SOME_OTHER_TOKEN: canary,
  });
  const { pm2, at } = place;
  const first = await readFile(at('po-sync.yaml'), 'utf8');
  const second = first.replaceAll('staging', 'uat').replaceAll(/(data:|path:) (\w+)/g, '$1 uat/$2');
  await mkdir(at('uat', 'inbox'), { recursive: true });
  await writeFile(at('uat.yaml'), second);
  const uat = {
    PO_SYNC_NAME: 'po-sync-uat',
    PO_SYNC_CONFIG: at('uat.yaml'),
    PO_SYNC_UAT_CLIENT_ID: CLIENT_ID,
    PO_SYNC_UAT_CLIENT_SECRET_FILE: at('secret'),
  };
  await pm2.run('start', CONFIGURATION);
  const [staging] = await pm2.list();
  await pm2.runIn(uat, 'start', CONFIGURATION);
  await pm2.runIn(uat, 'restart', CONFIGURATION, '--update-env');
  expect(await pm2.list()).toMatchObject([
    { name: 'po-sync', pid: staging?.pid, pm2_env: { status: 'online', restart_time: 0 } },
    { name: 'po-sync-uat', pm2_env: { status: 'online', restart_time: 1 } },
  ]);
  await place.drop('orders.csv', 3);
  await place.drop('orders.csv', 3, 'uat/inbox');
  const batches = await until('both are finished', async () => {
    const found = await Promise.all(
      ['reports', 'uat/reports'].map((folder) => settledBatches(at(folder))),
    );
    return found.every(({ length }) => length === 1) && found.flat();
  });
  expect(batches.map(({ report }) => report.environment)).toEqual(['staging', 'uat']);
  await pm2.run('save');
  const saved = await readFile(at('pm2', 'dump.pm2'), 'utf8');
  expect(saved).toContain('PO_SYNC_STAGING_CLIENT_SECRET_FILE');
  expect(saved).not.toContain(canary);
  expect(saved).not.toContain('HTTPS_PROXY');
  await pm2.runIn(uat, 'delete', CONFIGURATION);
  expect(await pm2.list()).toMatchObject([{ name: 'po-sync', pid: staging?.pid }]);
});
