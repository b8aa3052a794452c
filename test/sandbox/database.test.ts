import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOrderTable, openTokenFile } from '../../src/sandbox/database.ts';
import { openTestOrderFile } from '../support/order-file.ts';

let opened: Awaited<ReturnType<typeof openTestOrderFile>>;

beforeEach(async () => {
  opened = await openTestOrderFile();
});
afterEach(() => opened[Symbol.asyncDispose]());

test.each(['orders', 'tokens'])('a commit of %s returns when it is on disk', (which) => {
  using tokens = openTokenFile(opened.folder, 'staging');
  const asked = which === 'orders' ? opened.file : tokens;
  expect(asked.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  expect(asked.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
});

test('a page contains at most 500 orders or about 256 KiB, and at least one order', () => {
  const table = createOrderTable(opened.file, false);
  const all = { first: 1, last: Number.MAX_SAFE_INTEGER };
  const store = (count: number, size: number) => {
    const items = `[${' '.repeat(size - 2)}]`;
    table.insert({
      numbers: Array.from({ length: count }, (_, i) => `PO-${i}`),
      items: Array(count).fill(items),
    });
  };
  store(600, 60);
  expect(table.page(all)).toHaveLength(500);
  expect(table.page({ ...all, first: 501 })).toHaveLength(100);
  store(50, 100 * 1024);
  expect(table.page({ ...all, first: 601 })).toHaveLength(3);
  store(2, 1024 * 1024);
  expect(table.page({ ...all, first: 651 })).toHaveLength(1);
});
