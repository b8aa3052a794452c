import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRetention } from '../../src/ledger/retention.ts';
import { createRowClaims } from '../../src/ledger/row-claims.ts';
import { keepHouse, refreshReports } from '../../src/put-away/housekeeping.ts';
import { writeReport } from '../../src/report/write-report.ts';
import { capturedLog } from '../support/captured-log.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { dead, inputOf, reportOf, rows } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

/** A configuration whose dashboard has a fixed port. */
function configOf(path: string) {
  return { reports: { path, keep: 90 * 86_400_000 }, admin: { host: '127.0.0.1', port: 9464 } };
}

const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';
const SHA256 = 'c'.repeat(64);
const CLOSED_AT = '2026-11-22T08:00:00.000Z';

it.each(['closings', 'find'] as const)(
  'a dead letter that closes after %s was read is closed in the report too',
  async (call) => {
    await using store = await openTestRedis();
    await using reports = await makeTempFolder();
    const { redis, keys } = store;
    const orders = ['1', '2', '3'].map((number, i) =>
      dead(rows(i + 2, [number, 'A', '1']), 'refused', '400', 'No'),
    );
    await writeReport(
      inputOf(join(reports.path, BATCH), orders, { report: reportOf(orders, { batch: BATCH }) }),
    );
    const batches = createBatches({ redis, keys, owner: 'test' });
    await batches.begin(
      { batch: BATCH, source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' },
      1,
    );
    await redis.hset(keys.batch(BATCH), { open: 3 });
    await batches.done(BATCH);

    /** As commit.lua does it. */
    async function close(number: string): Promise<void> {
      const closing = { number, at: CLOSED_AT, by: 'accepted', batch: 'later' };
      await redis.hset(keys.closed(BATCH), number, JSON.stringify(closing));
      await redis.hincrby(keys.batch(BATCH), 'open', -1);
      await redis.sadd(keys.refresh, BATCH);
    }

    await close('1');
    let isLate = false;
    const meanwhile = async <T>(name: string, value: Promise<T>): Promise<T> => {
      const read = await value;
      if (name === call && !isLate) {
        isLate = true;
        await close('2');
      }
      return read;
    };
    const busy = {
      ...batches,
      find: (name: string) => meanwhile('find', batches.find(name)),
      closings: (name: string) => meanwhile('closings', batches.closings(name)),
    };
    for (let round = 0; round < 3; round += 1)
      await refreshReports({
        batches: busy,
        ledger: createLedger(store),
        store,
        config: configOf(reports.path),
      });
    const read = async (name: string) =>
      JSON.parse(await readFile(join(reports.path, BATCH, name), 'utf8'));
    // It was written before the port of the dashboard was fixed.
    expect(await read('report.json')).toMatchObject({
      open: 1,
      help: 'http://127.0.0.1:9464/for-clerks',
    });
    const deadLetters: { closed?: object }[] = await read('dead-letters.json');
    expect(deadLetters.map(({ closed }) => closed !== undefined)).toEqual([true, true, false]);
  },
);

it('a process that lost its lease meanwhile does not rewrite a report', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  const { redis, keys } = store;
  const orders = [dead(rows(2, ['1', 'A', '1']), 'refused', '400', 'No')];
  const folder = join(reports.path, BATCH);
  await writeReport(inputOf(folder, orders, { report: reportOf(orders, { batch: BATCH }) }));
  const batches = createBatches({ redis, keys, owner: 'test' });
  const file = { source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' } as const;
  await batches.begin({ batch: BATCH, ...file }, 1);
  await batches.done(BATCH);
  const closing = { number: '1', at: CLOSED_AT, by: 'accepted', batch: 'later' };
  await redis.hset(keys.closed(BATCH), '1', JSON.stringify(closing));
  await redis.sadd(keys.refresh, BATCH);
  const before = await readFile(join(folder, 'dead-letters.json'), 'utf8');
  const late: typeof batches = {
    ...batches,
    closings: async (name) => {
      await redis.set(keys.lease(name), 'another process');
      return batches.closings(name);
    },
  };
  const deps = { ledger: createLedger(store), store, config: configOf(reports.path) };
  await refreshReports({ ...deps, batches: late });
  expect(await readFile(join(folder, 'dead-letters.json'), 'utf8')).toBe(before);
  expect(await batches.toRefresh()).toEqual([BATCH]);
});

it('what a later batch corrected is shown, also if its report appears while this one is refreshed', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  const { redis, keys } = store;
  const orders = [dead(rows(2, ['1', 'A', 'none']), 'refused', '400', 'No')];
  await writeReport(
    inputOf(join(reports.path, BATCH), orders, { report: reportOf(orders, { batch: BATCH }) }),
  );
  const batches = createBatches({ redis, keys, owner: 'test' });
  await batches.begin(
    { batch: BATCH, source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' },
    1,
  );
  await redis.hset(keys.batch(BATCH), { open: 0 });
  await batches.done(BATCH);
  const closing = { number: '1', at: CLOSED_AT, by: 'accepted', batch: 'later' };
  await redis.hset(keys.closed(BATCH), '1', JSON.stringify(closing));
  await redis.sadd(keys.refresh, BATCH);

  /** As the settlement of the later batch does it: its report, then the request for a refresh. */
  async function settleLater(): Promise<void> {
    const changes = [{ place: 'line 2', field: 'quantity', from: 'none', to: '4' }];
    await mkdir(join(reports.path, 'later'), { recursive: true });
    const corrected = { batch: BATCH, places: ['line 2'], number: '1', changes };
    await writeFile(
      join(reports.path, 'later', 'corrections.json'),
      `[\n${JSON.stringify(corrected)}\n]\n`,
    );
    await redis.sadd(keys.refresh, BATCH);
  }

  let isLate = false;
  const busy = {
    ...batches,
    async origins(name: string) {
      if (!isLate) await settleLater();
      isLate = true;
      return await batches.origins(name);
    },
  };
  for (let round = 0; round < 3; round += 1)
    await refreshReports({
      batches: busy,
      ledger: createLedger(store),
      store,
      config: configOf(reports.path),
    });
  const [letter] = JSON.parse(
    await readFile(join(reports.path, BATCH, 'dead-letters.json'), 'utf8'),
  );
  expect(letter.closed).toMatchObject({ changes: [{ field: 'quantity', from: 'none', to: '4' }] });
});

it('a report that cannot be written does not delay the others', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  const { redis, keys } = store;
  const batches = createBatches({ redis, keys, owner: 'test' });
  const names = ['a', 'b', 'c'].map((deadLetter) => BATCH.replace('orders', deadLetter));
  for (const batch of names) {
    const orders = [dead(rows(2, ['1', 'A', '1']), 'refused', '400', 'No')];
    await writeReport(
      inputOf(join(reports.path, batch), orders, { report: reportOf(orders, { batch }) }),
    );
    await batches.begin(
      { batch, source: 'inbox', kind: 'inbox', name: 'orders.csv', path: '/none' },
      1,
    );
    await batches.done(batch);
    await redis.hset(
      keys.closed(batch),
      '0',
      JSON.stringify({ number: '1', at: CLOSED_AT, by: 'accepted' }),
    );
    await redis.sadd(keys.refresh, batch);
  }
  // A folder with the name of the list.
  const [broken = '', ...others] = names;
  await rm(join(reports.path, broken, 'dead-letters.json'));
  await mkdir(join(reports.path, broken, 'dead-letters.json'));
  await expect(
    refreshReports({ batches, ledger: createLedger(store), store, config: configOf(reports.path) }),
  ).rejects.toThrow();
  for (const name of others) {
    expect(
      JSON.parse(await readFile(join(reports.path, name, 'report.json'), 'utf8')),
    ).toMatchObject({ open: 0 });
  }
  expect(await batches.toRefresh()).toEqual([broken]);
});

it('the first batch with a content is known until it is forgotten, also to a row that was corrected there', async () => {
  await using store = await openTestRedis();
  const batches = createBatches({ ...store, owner: 'test' });
  const begin = async (batch: string, at: number) => {
    await batches.begin(
      { batch, source: 'inbox', kind: 'inbox', name: `${batch}.csv`, path: '/none' },
      at,
    );
    const earlier = await batches.contentRead(batch, 'inbox', SHA256);
    await batches.admitting(batch, SHA256);
    return earlier;
  };
  const { claim } = createRowClaims({ ...store, ledger: { lookup: async () => [] } });
  const rowOf = async (batch: string) => {
    const claims = await claim({ number: 'PO-1', batch: 'fix', no: 9 }, [
      { batch, place: 'line 2' },
    ]);
    return 'by' in claims ? undefined : claims[0]?.batch;
  };

  expect(await begin('a', 1)).toBeUndefined();
  // Read again after a crash, it does not repeat itself.
  expect(await batches.contentRead('a', 'inbox', SHA256)).toBeUndefined();
  expect(await begin('b', 2)).toEqual({ batch: 'a', name: 'a.csv', at: 1 });
  expect(await batches.contentRead('b', 'other', SHA256)).toBeUndefined();
  expect(await rowOf('b')).toBe('a');
  await batches.forget('a');
  expect(await rowOf('b')).toBe('b');
  expect(await begin('c', 3)).toBeUndefined();
  await batches.forget('c');
  expect(await batches.withContent('inbox', SHA256)).toBeUndefined();
  expect(Object.values(await store.redis.hgetall(store.keys.contents))).toEqual(['b']);
});

it('which orders a person discarded is known until their batch is forgotten', async () => {
  await using store = await openTestRedis();
  const batches = createBatches({ ...store, owner: 'test' });
  const { close } = createDeadLetters(store);
  const who = { at: 1, who: 'anna', what: 'discarded' } as const;
  for (const batch of ['a', 'b']) {
    await batches.begin(
      { batch, source: 'inbox', kind: 'inbox', name: `${batch}.csv`, path: '/none' },
      1,
    );
    await store.redis.hset(store.keys.waiting, 'PO-1', `${batch}/0`);
    await close({ batch, deadLetter: { number: 'PO-1', kind: 'invalid' }, fields: ['0'], by: who });
  }
  await batches.forget('a');
  expect(await store.redis.smembers(store.keys.discardedIn('PO-1'))).toEqual(['b']);
  expect(await store.redis.hkeys(store.keys.discarded)).toEqual(['PO-1']);
  await batches.forget('b');
  expect(await store.redis.exists(store.keys.discarded, store.keys.discardedIn('PO-1'))).toBe(0);
});

it('a machine whose clock is ahead forgets no order', async () => {
  await using store = await openTestRedis();
  await using reports = await makeTempFolder();
  const day = 86_400_000;
  await createAdoption(store)(
    [{ purchaseOrderNumber: '4711', digest: 'A'.repeat(16) }],
    store.time.now(),
  );
  await keepHouse({
    config: { ...configOf(reports.path), sources: [] },
    batches: createBatches({ ...store, owner: 'test' }),
    retention: createRetention({ ...store, keep: 30 * day }),
    clock: { ...systemClock, now: () => Date.now() + 365 * day },
    time: store.time,
    log: capturedLog().log,
  });
  const [known] = await createLedger(store).lookup(['4711']);
  expect(known?.kind).toBe('accepted');
});
