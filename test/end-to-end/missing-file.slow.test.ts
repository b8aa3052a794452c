import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { csvOf, type Running, type Workplace } from '../support/workplace.ts';

const WRONG = {
  kind: 'answer',
  status: 400,
  message: 'articleCode is invalid',
  orders: ['PO-*'],
  calls: '1-12',
};

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

it('a batch whose file is gone says so everywhere, and continues when the file is back', async () => {
  await using place = await openWorkplace();
  await place.run(['pause']);
  const first = place.start(['start']);
  await place.drop('long.csv', csvOf(1000));
  const { batch } = await until('the batch', async () => {
    const { queue } = await json(place, 'status');
    return queue.unsettledOrders > 0 ? shown(place) : undefined;
  });
  await stop(first);
  const away = path.join(place.folder, 'inbox.old');
  await rename(path.join(place.inbox, 'processing'), away);
  await mkdir(path.join(place.inbox, 'processing'));
  const daemon = place.start(['start']);
  const reason = `long.csv is missing from ${path.join(place.inbox, 'processing', batch)}: put it back there, or cancel the batch (po-sync batches cancel ${batch.slice(-8)})`;
  expect((await said(place, 'long.csv is missing')).unsettled?.reason).toBe(reason);
  await place.run(['resume']);
  await until(
    'what was read',
    async () => (await json(place, 'status')).queue.unsettledOrders === 0,
  );

  const { queue, waits } = await json(place, 'status');
  expect(queue.unreadOrders).toBe(1000 - place.stored().size);
  expect(waits).toMatchObject([{ for: 'file', orders: 0, unread: queue.unreadOrders, reason }]);
  const { out: status } = await place.run(['status']);
  expect(status).toContain(reason);
  expect(status).toContain('Its other orders are not read and not sent.');
  expect((await place.run(['batches', 'show', batch])).out).toContain(reason);
  expect((await place.run(['batches', 'list', '--open'])).out).toContain('cannot be read');
  const person = await openOperator(place, daemon);
  for (const page of [`/batches/${batch}`, '/'])
    expect((await person.page(page)).text).toContain('long.csv is missing');
  const lines = daemon.out().split('\n');
  const logged = lines.filter((line) => line.includes('a step of the batch failed'));
  expect(logged.length).toBeGreaterThanOrEqual(1);
  expect(logged.length).toBeLessThan(5);

  await stop(daemon);
  const once = await place.run(['start', '--once', '--max-wait', '100ms']);
  expect(once.code).toBe(2);
  expect(once.err).toBe('The maximum wait is over. The rest is kept; run po-sync status.\n');
  place.start(['start']);

  await rename(path.join(away, batch), path.join(place.inbox, 'processing', batch));
  await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state !== 'unreadable'),
  );
  expect(place.stored().size).toBe(1000);
  expect([...place.stored().values()].every((times) => times === 1)).toBe(true);
  expect((await shown(place))?.unsettled).toBeUndefined();
});

it('a held batch whose file is gone ends when it is cancelled, and its report says what was not read', async () => {
  await using place = await openWorkplace({
    faults: { faults: [WRONG] },
    delivery: ', concurrency: 2, refusalHold: { share: 50%, of: 6 }',
  });
  const first = place.start(['start']);
  await place.drop('held.csv', csvOf(500));
  const { batch } = await until('the hold', () =>
    shown(place).then((one) => (one?.state === 'waiting' ? one : undefined)),
  );
  await stop(first);
  await rename(place.inbox, path.join(place.folder, 'inbox.old'));
  await mkdir(place.inbox);
  place.start(['start']);
  await place.run(['batches', 'release', batch, '--yes']);
  await said(place, 'held.csv is missing');
  const { out } = await place.run(['batches', 'cancel', batch, '--yes']);
  expect(out).not.toContain('is cancelled as it is read');
  const report = await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state !== 'unreadable'),
  );
  const { counts, warnings, open } = report;
  expect(counts.refused).toBeGreaterThan(3);
  expect(counts.orders).toBeLessThan(500);
  expect(counts.accepted + counts.refused + counts.cancelled).toBe(counts.orders);
  expect(warnings).toContain(
    `held.csv was missing when its batch was cancelled: ${500 - counts.orders} orders of it were not read and not sent.`,
  );
  await until('the end', async () => (await shown(place))?.state === 'finished');
  // Those that were refused still wait for a person, and are found.
  expect(open).toBe(counts.refused);
  const { deadLetters } = await json(place, 'dead-letters', 'list');
  expect(deadLetters).toHaveLength(counts.refused);
  expect(await readdir(path.join(place.reports, batch))).not.toContain('fix.xlsx');
  expect(await readFile(path.join(place.reports, batch, 'report.html'), 'utf8')).toContain(
    'held.csv was missing',
  );
});

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
