import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createBatches } from '../../../src/ledger/batches/batches.ts';
import {
  findBatch,
  listBatches,
  standingText,
  unreadableFiles,
} from '../../../src/operate/batches/list-batches.ts';
import { configOf, LEAST } from '../../support/config-text.ts';
import { openTestRedis } from '../../support/open-redis.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

let place: Awaited<ReturnType<typeof openPlace>>;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

/** Batches in Redis, some of them with a report. */
async function openPlace() {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openTestRedis());
  const folder = stack.use(await makeTempFolder());
  const { config } = configOf(`${LEAST}reports: { path: ${folder.path} }\n`);
  const batches = createBatches({ redis: store.redis, keys: store.keys, owner: 'me' });
  const kept = stack.move();
  let at = 0;

  async function take(
    batch: string,
    name: string,
    more: { unreadable?: boolean; open?: number; settledPath?: string } = {},
  ): Promise<void> {
    at += 1000;
    await batches.begin({ batch, source: 'inbox', kind: 'inbox', name, path: `/in/${name}` }, at);
    if (!more.unreadable) await batches.admitted(batch, 1, '');
    if (more.open) await store.redis.hset(store.keys.batch(batch), { open: more.open });
    if (more.settledPath) await batches.putAway(batch, more.settledPath);
    await batches.done(batch);
    if (!more.unreadable) return;
    await mkdir(path.join(folder.path, batch));
    const error = { code: 'unreadable-quote', message: 'Line 2 opens a quote.' };
    await writeFile(path.join(folder.path, batch, 'report.json'), JSON.stringify({ batch, error }));
  }

  const namesOf = (views: { batch: { batch: string } }[]) => views.map(({ batch }) => batch.batch);
  /** A batch that Redis knows as cancelled and not as ended; `report`: what its report says. */
  async function cancelled(batch: string, report?: object, byPerson = true): Promise<void> {
    await batches.begin(
      { batch, source: 'inbox', kind: 'inbox', name: `${batch}.csv`, path: `/in/${batch}.csv` },
      1000,
    );
    if (byPerson) await batches.cancel(batch, { at: 2000, who: 'anna' });
    else await batches.sendNoMore(batch, 1000);
    if (report === undefined) return;
    await mkdir(path.join(folder.path, batch));
    await writeFile(
      path.join(folder.path, batch, 'report.json'),
      JSON.stringify({ batch, ...report }),
    );
  }

  return {
    take,
    cancelled,
    replaced: batches.replaced,
    standings: async () =>
      (await listBatches({ open: false, most: 10 }, { batches, config })).map(standingText),
    unreadable: async () =>
      unreadableFiles(
        (await listBatches({ open: false, most: 10 }, { batches, config })).map(
          ({ batch }) => batch,
        ),
        { batches, config },
      ),
    find: (text: string) => findBatch(text, batches),
    open: async () => namesOf(await listBatches({ open: true, most: 10 }, { batches, config })),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

it('a batch needs a person while dead letters wait or its file is unreadable', async () => {
  await place.take('b-1', 'fine.csv');
  await place.take('b-2', 'wrong.csv', { open: 2 });
  await place.take('b-3', 'broken.csv', { unreadable: true });
  expect(await place.open()).toEqual(['b-3', 'b-2']);
});

it('an unreadable file has the error of its report', async () => {
  await place.take('b-1', 'broken.csv', { unreadable: true });
  expect(await place.unreadable()).toMatchObject([
    { standing: 'unreadable', batch: { name: 'broken.csv' }, error: { code: 'unreadable-quote' } },
  ]);
});

it('an unreadable file no longer needs a person after a later file of its name could be read', async () => {
  await place.take('b-1', 'orders.csv', { unreadable: true });
  await place.take('b-2', 'other.csv', { unreadable: true });
  await place.take('b-3', 'orders.csv');
  await place.replaced('b-1', 'b-3');
  expect(await place.open()).toEqual(['b-2']);
  await place.take('b-4', 'orders.csv', { unreadable: true });
  expect(await place.open()).toEqual(['b-4', 'b-2']);
});

it('an unreadable file that was replaced needs a person while its dead letters wait', async () => {
  await place.take('b-1', 'orders.csv', { unreadable: true, open: 2 });
  await place.take('b-2', 'orders.csv');
  await place.replaced('b-1', 'b-2');
  expect(await place.open()).toEqual(['b-1']);
  expect(await place.unreadable()).toEqual([]);
});

it('a file that several batches have names them, the newest first', async () => {
  const names = [
    '20261121T070000Z-inbox-orders-00000001',
    '20261121T080000Z-inbox-orders-00000002',
  ];
  for (const batch of names) await place.take(batch, 'orders.csv');
  await place.take('20261121T090000Z-inbox-orders-00000003', 'orders.json');
  await expect(place.find('orders.csv')).rejects.toMatchObject({
    code: 'batch-ambiguous',
    message: `orders.csv fits 2 batches, such as ${names.toReversed().join(', ')}.`,
  });
  expect(await place.find('orders.json')).toMatchObject({ name: 'orders.json' });
  // The one that is in progress is not meant more than the other.
  await place.cancelled('20261121T100000Z-inbox-orders-10000002');
  await expect(place.find('0000002')).rejects.toMatchObject({ code: 'batch-ambiguous' });
});

it('a cancelled batch that ended before Redis lost data is shown as cancelled and counted again, not as being cancelled', async () => {
  const counts = { accepted: 1, cancelled: 2 };
  await place.cancelled('b-1');
  await place.cancelled('b-2', { finishedAt: null, state: 'running', counts });
  await place.cancelled('b-3', { finishedAt: '2026-11-21T07:15:00Z', state: 'finished', counts });
  // Nobody cancelled it: po-sync sends nothing more of a file that ended before a rollback.
  await place.cancelled(
    'b-4',
    {
      finishedAt: '2026-11-21T07:15:00Z',
      state: 'finished',
      counts: { accepted: 3, cancelled: 0 },
    },
    false,
  );
  expect((await place.standings()).toSorted()).toEqual([
    'being cancelled',
    'being cancelled',
    'finished, counted again',
    'partly cancelled, counted again',
  ]);
});
