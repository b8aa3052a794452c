import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOrderTable, type OrderTable } from '../../src/sandbox/database.ts';
import {
  createOrderStore,
  type NewOrder,
  type RemoteTable,
  type Stored,
} from '../../src/sandbox/order-store.ts';
import { openTestOrderFile } from '../support/order-file.ts';
import { until } from '../support/until.ts';

let opened: Awaited<ReturnType<typeof openTestOrderFile>>;

beforeEach(async () => {
  opened = await openTestOrderFile();
});
afterEach(() => opened[Symbol.asyncDispose]());

const orderOf = (number: string): NewOrder => ({ number, state: 'NEW', items: '[]' });

/** The table of this thread as if it were in another. */
function remote(table: OrderTable): RemoteTable {
  return {
    insert: async (orders) => table.insert(orders),
    range: async (until) => table.range(until),
    capped: async (range, most, keep) => table.capped(range, most, keep),
    find: async (number) => table.find(number),
    page: async (range) => table.page(range),
  };
}

/** A store whose groups go to the disk as slowly, or as badly, as the test wants; the real table is behind it. */
function storeWith(disk: () => Promise<void>, unique = false) {
  const groups: number[] = [];
  const table = remote(createOrderTable(opened.file, unique));
  const store = createOrderStore({
    ...table,
    async insert(orders) {
      groups.push(orders.numbers.length);
      const stored = await table.insert(orders);
      await disk();
      return stored;
    },
  });
  const create = (number: string) =>
    new Promise<Stored>((resolve, reject) => {
      store.create(orderOf(number), (outcome) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome),
      );
    });
  const many = (count: number, prefix = 'PO') =>
    Array.from({ length: count }, (_, nth) => create(`${prefix}-${nth}`));
  return { store, create, many, groups };
}

const quick = () => Promise.resolve();

async function numbersIn({ store }: ReturnType<typeof storeWith>): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of store.pages(await store.range(Number.MAX_SAFE_INTEGER))) {
    found.push(...rows.map(({ number }) => number));
  }
  return found;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('an order is answered only when it is on disk', async () => {
  const disk = Promise.withResolvers<void>();
  const { create, groups } = storeWith(() => disk.promise);
  let answered = false;
  const created = create('PO-1').then(() => {
    answered = true;
  });
  for (let i = 0; i < 10; i += 1) await turn();
  expect(groups).toEqual([1]);
  expect(answered).toBe(false);
  disk.resolve();
  await created;
});

test('orders that arrive while the disk is busy are committed together', async () => {
  const stored = storeWith(quick);
  expect(new Set(await Promise.all(stored.many(500)))).toEqual(new Set(['stored']));
  expect(stored.groups.length).toBeLessThan(5);
  expect(await numbersIn(stored)).toEqual(Array.from({ length: 500 }, (_, nth) => `PO-${nth}`));
});

test('while one group is in flight only a large second group starts; a small one waits', async () => {
  const disks: PromiseWithResolvers<void>[] = [];
  const { many, groups } = storeWith(() => {
    const disk = Promise.withResolvers<void>();
    disks.push(disk);
    return disk.promise;
  });
  const creating = [...many(1, 'first')];
  await turn();
  creating.push(...many(23, 'few'));
  for (let i = 0; i < 5; i += 1) await turn();
  expect(groups).toEqual([1]);
  creating.push(...many(1, 'one more'));
  for (let i = 0; i < 5; i += 1) await turn();
  expect(groups).toEqual([1, 24]);
  creating.push(...many(50, 'third'));
  for (let i = 0; i < 5; i += 1) await turn();
  expect(groups).toEqual([1, 24]);
  disks[0]?.resolve();
  for (let i = 0; i < 5; i += 1) await turn();
  expect(groups).toEqual([1, 24, 50]);
  creating.push(...many(2, 'last'));
  for (const disk of disks) disk.resolve();
  for (let i = 0; i < 5; i += 1) await turn();
  expect(groups).toEqual([1, 24, 50, 2]);
  for (const disk of disks) disk.resolve();
  expect(new Set(await Promise.all(creating))).toEqual(new Set(['stored']));
});

test('large orders are committed in groups of 4 MiB, each order in exactly one group', async () => {
  const { store, groups } = storeWith(quick);
  const items = `[${' '.repeat(1024 * 1024)}]`;
  const outcomes = Array.from(
    { length: 10 },
    (_, i) =>
      new Promise((resolve) => store.create({ number: `PO-${i}`, state: 'NEW', items }, resolve)),
  );
  store.create(
    { number: 'huge', state: 'NEW', items: `[${' '.repeat(5 * 1024 * 1024)}]` },
    () => undefined,
  );
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['stored']));
  await until('the last', () => groups.length === 5);
  expect(groups).toEqual([3, 3, 3, 1, 1]);
});

test('a disk failure is reported to every affected creation and to no other', async () => {
  let broken = true;
  const { create } = storeWith(async () => (broken ? Promise.reject(new Error('EIO')) : undefined));
  await expect(create('PO-1')).rejects.toThrow('EIO');
  broken = false;
  expect(await create('PO-2')).toBe('stored');
});

test('a full disk stores all orders of a group or none, and storing resumes when there is space', async () => {
  const stored = storeWith(quick);
  expect(await stored.create('PO-before')).toBe('stored');
  const pages = Number(opened.file.prepare('PRAGMA page_count').get()?.page_count);
  opened.file.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const outcomes = await Promise.allSettled(stored.many(2000));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(await numbersIn(stored)).toEqual(['PO-before']);
  opened.file.exec('PRAGMA max_page_count = 1000000');
  expect(await stored.create('PO-after')).toBe('stored');
});

test('uniqueness can be switched on for data with duplicates, and off again', async () => {
  const accepting = storeWith(quick);
  await accepting.create('PO-1');
  await accepting.create('PO-1');
  const refusing = storeWith(quick, true);
  expect(await refusing.create('PO-1')).toBe('taken');
  expect(await refusing.create('PO-2')).toBe('stored');
  expect(await storeWith(quick).create('PO-2')).toBe('stored');
  expect(await numbersIn(accepting)).toEqual(['PO-1', 'PO-1', 'PO-2', 'PO-2']);
});
