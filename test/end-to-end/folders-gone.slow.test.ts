import { access, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('folders that vanish under a daemon are not created again: everybody says so, orders are sent, reports come when they are back', async () => {
  await using place = await openWorkplace();
  const running = place.start(['start']);
  const { port } = await openOperator(place, running);
  const report = (file: string) =>
    until(`the report of ${file}`, async () =>
      (await place.reportsNow()).find((one) => one.file === file && one.state === 'finished'),
    );
  await place.drop('before.csv', csvOf(2));
  await report('before.csv');

  const own = [path.join(place.folder, 'data'), place.reports];
  for (const folder of own) await rename(folder, `${folder}-away`);
  const events = (event: string) => running.out().split(`"${event}"`).length - 1;
  await until('a word of both', () => events('folder-lost') === 2);
  const status = await until('a heartbeat that says so', async () => {
    const { code, out } = await place.run(['--json', 'status', '--exit-code']);
    return (
      JSON.parse(out).daemons[0].foldersGone && {
        code,
        gone: JSON.parse(out).daemons[0].foldersGone,
      }
    );
  });
  const gone = [
    { folder: 'reports', path: place.reports },
    { folder: 'data', path: own[0] },
  ];
  expect(status).toEqual({ code: 2, gone });
  await place.drop('meanwhile.csv', csvOf(5));
  await until('its orders', () => place.stored().size === 5);
  await until('the batch that waits', async () => {
    const [one] = (await place.json('batches', 'list')).batches;
    return one?.unsettled?.reason.includes('was there when po-sync started, and is gone');
  });
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  expect(await ready()).toBe(503);
  expect((await place.run(['status'])).out).toContain(
    `${place.reports} was there when the daemon started, and is gone`,
  );
  for (const folder of own) await expect(access(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(events('folder-lost')).toBe(2);

  for (const folder of own) await rename(`${folder}-away`, folder);
  await until('both are back', () => events('folder-back') === 2);
  expect((await report('meanwhile.csv')).counts).toMatchObject({
    orders: 5,
    accepted: 3,
    duplicate: 2,
  });
  await until('readiness', async () => (await ready()) === 200);
});
