import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isGone } from '../../src/core/regular-file.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

type Shown = { batch: string; state: string; unsettled?: { reason: string } };

async function shown(place: Workplace): Promise<Shown | undefined> {
  return (await place.json('batches', 'list')).batches[0];
}

/** Drops a file that is read in part, because delivery is paused; returns its batch. */
async function dropLong(place: Workplace): Promise<string> {
  await place.run(['pause']);
  place.start(['start']);
  await place.drop('long.csv', csvOf(1000));
  return until('the file to wait', async () => {
    const { queue } = await place.json('status');
    return queue.unsettledOrders > 0 ? (await shown(place))?.batch : undefined;
  });
}

/** Removes the folder of a claimed file after keeping a copy; returns what puts the file back. */
async function remove(place: Workplace, batch: string, file: string): Promise<() => Promise<void>> {
  const folder = path.join(place.inbox, 'processing', batch);
  const copy = path.join(place.folder, 'copy.csv');
  await copyFile(path.join(folder, file), copy);
  await rm(folder, { recursive: true });
  return async () => {
    await until('the folder to be there again', async () => !(await isGone(folder)));
    await copyFile(copy, path.join(folder, file));
  };
}

const missing = (place: Workplace) =>
  until('the missing file', async () =>
    /is missing from/.test((await shown(place))?.unsettled?.reason ?? ''),
  );

it('a file that is removed while delivery is paused is missing at once, and no longer when it is back in its folder', async () => {
  await using place = await openWorkplace();
  await place.run(['pause']);
  const daemon = place.start(['start']);
  await place.drop('orders.csv', csvOf(3));
  const { batch } = await until('its orders to wait', async () => {
    const one = await shown(place);
    return one?.state === 'sending' ? one : undefined;
  });
  const putBack = await remove(place, batch, 'orders.csv');
  await missing(place);
  expect((await place.run(['status'])).out).toContain('orders.csv is missing from');
  expect(daemon.out()).toContain('orders.csv is missing from');
  await putBack();
  await until('that it is back', async () => (await shown(place))?.unsettled === undefined);
  await place.run(['resume']);
  await until('the report', async () =>
    (await place.reportsNow()).some(({ state }) => state !== 'unreadable'),
  );
  expect(place.stored().size).toBe(3);
});

it('the rest of a file that is removed while it is read is not sent until the file is back', async () => {
  await using place = await openWorkplace();
  const batch = await dropLong(place);
  const putBack = await remove(place, batch, 'long.csv');
  await missing(place);
  await place.run(['resume']);
  await until('what was read', async () => {
    const { queue } = await place.json('status');
    return (
      place.stored().size > 0 &&
      queue.unsettledOrders === 0 &&
      queue.unreadOrders === 1000 - place.stored().size
    );
  });
  expect(place.stored().size).toBeLessThan(1000);
  await putBack();
  await until('the report', async () =>
    (await place.reportsNow()).some(({ state }) => state !== 'unreadable'),
  );
  expect(place.stored().size).toBe(1000);
  expect([...place.stored().values()].every((times) => times === 1)).toBe(true);
});

it('cancel takes the name of a file, and counts the orders that were not read', async () => {
  await using place = await openWorkplace();
  const batch = await dropLong(place);
  await remove(place, batch, 'long.csv');
  await missing(place);
  const { out } = await place.run(['batches', 'cancel', 'long.csv', '--dry-run']);
  expect(out).toMatch(
    new RegExp(
      `^Would cancel the orders of ${batch} that were not sent: 1,000 orders \\([\\d,]+ of them`,
    ),
  );
  await place.run(['resume']);
  await until('what was read', async () => {
    const { queue } = await place.json('status');
    return place.stored().size > 0 && queue.unsettledOrders === 0;
  });
  const sent = place.stored().size;
  const cancelled = await place.json('batches', 'cancel', 'long.csv', '--yes');
  expect(cancelled).toMatchObject({
    batch,
    cancelled: 0,
    accepted: sent,
    underWay: 0,
    unread: 1000 - sent,
  });
  const report = await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state !== 'unreadable'),
  );
  expect(report.warnings).toContainEqual(
    expect.stringContaining(`${(1000 - sent).toLocaleString('en')} orders of it were not read`),
  );
});
