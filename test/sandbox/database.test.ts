import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createOrderTable, openDatabase } from '../../src/sandbox/database.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

test('a page contains at most 500 orders or about 256 KiB, and at least one order', () => {
  using database = openDatabase(undefined, 'staging');
  const table = createOrderTable(database);
  const pagesOf = (count: number, size: number) => {
    const before = table.times().length;
    for (let nth = 0; nth < count; nth += 1)
      table.insert({ number: `PO-${nth}`, items: `[${' '.repeat(size - 2)}]` });
    const ids = table.times().map(({ id }) => id);
    return Array.from(table.pages(ids.slice(before)), (rows) => rows.length);
  };
  expect(pagesOf(600, 60)).toEqual([500, 100]);
  expect(pagesOf(7, 100 * 1024)).toEqual([3, 3, 1]);
  expect(pagesOf(2, 1024 * 1024)).toEqual([1, 1]);
});

test('a full disk is an error of the order that does not fit, and storing resumes when there is space', () => {
  using database = openDatabase(undefined, 'staging');
  const table = createOrderTable(database);
  const large = { number: 'PO-large', items: `["${'x'.repeat(100_000)}"]` };
  table.insert({ number: 'PO-before', items: '[]' });
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  expect(() => table.insert(large)).toThrow('full');
  database.exec('PRAGMA max_page_count = 1000000');
  table.insert(large);
  const [rows] = table.pages([1, 2, 3]);
  expect(rows?.map(({ number }) => number)).toEqual(['PO-before', 'PO-large']);
});

test('a file that is no database is refused with a remedy', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'staging.sqlite');
  await writeFile(file, 'no database, but long enough to look like one'.repeat(50));
  expect(() => openDatabase(folder.path, 'staging')).toThrow(
    expect.objectContaining({
      code: 'sandbox-data-unusable',
      remedy: expect.stringContaining('--data'),
      facts: { file },
    }),
  );
});
