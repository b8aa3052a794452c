import { rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { until } from '../support/until.ts';
import { csvOf, type Running, type Workplace } from '../support/workplace.ts';

type Shown = { batch: string; state: string; unsettled?: { reason: string } };

async function json(place: Workplace, ...args: string[]) {
  return await place.json(...args);
}

async function shown(place: Workplace): Promise<Shown | undefined> {
  return (await json(place, 'batches', 'list')).batches[0];
}

async function stop(daemon: Running): Promise<void> {
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}

function said(place: Workplace, reason: string): Promise<Shown> {
  return until('the missing file', async () => {
    const batch = await shown(place);
    return batch?.unsettled?.reason.startsWith(reason) ? batch : undefined;
  });
}

it('a batch whose file is gone when its orders have their outcomes gets no report until the file is back', async () => {
  await using place = await openWorkplace();
  await place.run(['pause']);
  const first = place.start(['start']);
  await place.drop('orders.csv', `${csvOf(3)}PO-9,NEW,ART-1,many\n`);
  const { batch } = await until('the orders to wait', () =>
    shown(place).then((one) => (one?.state === 'sending' ? one : undefined)),
  );
  await stop(first);
  const [here, away] = [
    path.join(place.inbox, 'processing', batch),
    path.join(place.folder, 'away'),
  ];
  await rename(here, away);
  place.start(['start']);
  await place.run(['resume']);
  const reason = `orders.csv is missing from ${here}: put it back there, or cancel the batch (po-sync batches cancel ${batch.slice(-8)})`;
  expect((await said(place, 'orders.csv is missing')).unsettled?.reason).toBe(reason);
  await until('its orders', async () => (await json(place, 'status')).queue.unsettledOrders === 0);
  expect(place.stored().size).toBe(3);
  expect((await place.run(['status'])).out).toContain(reason);
  expect(await place.reportsNow()).toEqual([]);

  await rename(away, here);
  const report = await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state !== 'unreadable'),
  );
  expect((await place.read(report, 'results.csv')).trim().split('\n')).toHaveLength(5);
  expect(await place.read(report, 'fix.xlsx')).toContain('many');
  await until('the end', async () => (await shown(place))?.state === 'finished');
  expect((await shown(place))?.unsettled).toBeUndefined();
});
