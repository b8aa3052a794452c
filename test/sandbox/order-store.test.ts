import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/sandbox/database.ts';
import { type NewOrder, openOrderStore } from '../../src/sandbox/order-store.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

let folder: AsyncDisposable & { path: string };
let database: Database;

beforeEach(async () => {
  folder = await makeTempFolder();
  database = openDatabase(folder.path, 'staging');
});
afterEach(async () => {
  database[Symbol.dispose]();
  await folder[Symbol.asyncDispose]();
});

const orderOf = (number: string): NewOrder => ({ number, state: 'NEW', items: '[]' });
const numbers = (store: ReturnType<typeof openOrderStore>) =>
  [...store.pages(store.range(Number.MAX_SAFE_INTEGER))].flat().map(({ number }) => number);

/** The database with a disk that is as slow, or as broken, as the test wants. */
function withFlush(flush: () => Promise<void>): Database {
  return { sql: database.sql, flush, [Symbol.dispose]: () => undefined };
}

test('an order is answered only when it is on the disk', async () => {
  const disk = Promise.withResolvers<void>();
  const store = openOrderStore(
    withFlush(() => disk.promise),
    false,
  );
  let answered = false;
  const created = store.create(orderOf('PO-1')).then(() => {
    answered = true;
  });
  await until('the commit', () => numbers(store).length === 1);
  expect(answered).toBe(false);
  disk.resolve();
  await created;
});

test('orders that come while the disk is busy are committed together', async () => {
  let flushes = 0;
  const store = openOrderStore(
    withFlush(async () => {
      flushes += 1;
      await database.flush();
    }),
    false,
  );
  const creating = Array.from({ length: 500 }, (_, nth) => store.create(orderOf(`PO-${nth}`)));
  expect(new Set(await Promise.all(creating))).toEqual(new Set(['stored']));
  expect(flushes).toBeLessThan(5);
  expect(numbers(store)).toEqual(Array.from({ length: 500 }, (_, nth) => `PO-${nth}`));
});

test('a disk that fails is told to everybody whose order it may have cost, and to nobody else', async () => {
  let broken = true;
  const store = openOrderStore(
    withFlush(async () => (broken ? Promise.reject(new Error('EIO')) : undefined)),
    false,
  );
  await expect(store.create(orderOf('PO-1'))).rejects.toThrow('EIO');
  broken = false;
  expect(await store.create(orderOf('PO-2'))).toBe('stored');
});

test('a full disk stores all orders of a group or none, and the store goes on when there is room', async () => {
  const store = openOrderStore(database, false);
  expect(await store.create(orderOf('PO-before'))).toBe('stored');
  const pages = Number(database.sql.prepare('PRAGMA page_count').get()?.page_count);
  database.sql.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const creating = Array.from({ length: 2000 }, (_, nth) => store.create(orderOf(`PO-${nth}`)));
  const outcomes = await Promise.allSettled(creating);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(numbers(store)).toEqual(['PO-before']);
  database.sql.exec('PRAGMA max_page_count = 1000000');
  expect(await store.create(orderOf('PO-after'))).toBe('stored');
});

test('uniqueness may be switched on over data that has doubles, and off again', async () => {
  const accepting = openOrderStore(database, false);
  await accepting.create(orderOf('PO-1'));
  await accepting.create(orderOf('PO-1'));
  const refusing = openOrderStore(database, true);
  expect(await refusing.create(orderOf('PO-1'))).toBe('taken');
  expect(await refusing.create(orderOf('PO-2'))).toBe('stored');
  expect(await openOrderStore(database, false).create(orderOf('PO-2'))).toBe('stored');
  expect(numbers(accepting)).toEqual(['PO-1', 'PO-1', 'PO-2', 'PO-2']);
});
