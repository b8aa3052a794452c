import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openOrderThread } from '../../src/sandbox/order-thread.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const ORDERS = { numbers: ['PO-1', 'PO-2', 'PO-1'], items: ['[1]', '[2]', '[3]'] };

test('answers in the order of the calls, and stores what it answered', async () => {
  await using folder = await makeTempFolder();
  const opening = { folder: folder.path, environment: 'staging', unique: true };
  {
    await using table = await openOrderThread(opening);
    const [stored, range, page] = await Promise.all([
      table.insert(ORDERS),
      table.range(Number.MAX_SAFE_INTEGER),
      table.page({ first: 1, last: 9 }),
    ]);
    expect(stored).toEqual([true, true, false]);
    expect(range).toEqual({ first: 1, last: 2 });
    expect(page).toMatchObject([
      { number: 'PO-1', state: 'NEW', items: '[1]' },
      { number: 'PO-2', state: 'NEW', items: '[2]' },
    ]);
    expect(await table.capped(range, 1, 'newest')).toEqual({ first: 2, last: 2 });
  }
  await using again = await openOrderThread(opening);
  expect(await again.range(Number.MAX_SAFE_INTEGER)).toEqual({ first: 1, last: 2 });
});

test('a failed call does not affect other calls', async () => {
  await using folder = await makeTempFolder();
  await using table = await openOrderThread({
    folder: folder.path,
    environment: 'staging',
    unique: false,
  });
  const broken = { numbers: [Symbol.iterator as never], items: [] };
  await expect(table.insert({ numbers: [{} as never], items: [] })).rejects.toThrow();
  await expect(table.insert(broken)).rejects.toThrow();
  expect(await table.insert(ORDERS)).toEqual([true, true, true]);
});

test('reports an unusable file, and a file in use by another process', async () => {
  await using folder = await makeTempFolder();
  const opening = { folder: folder.path, environment: 'staging', unique: false };
  await using _ = await openOrderThread(opening);
  await expect(openOrderThread(opening)).rejects.toMatchObject({
    code: 'sandbox-data-in-use',
    remedy: expect.stringContaining('--data'),
    facts: { file: path.join(folder.path, 'staging.sqlite') },
  });
  await writeFile(
    path.join(folder.path, 'broken.sqlite'),
    'no database, but long enough to look like one'.repeat(50),
  );
  await expect(openOrderThread({ ...opening, environment: 'broken' })).rejects.toMatchObject({
    code: 'sandbox-data-unusable',
  });
});

test('after closing every call is rejected', async () => {
  await using folder = await makeTempFolder();
  const table = await openOrderThread({
    folder: folder.path,
    environment: 'staging',
    unique: false,
  });
  const last = table.insert(ORDERS);
  await table[Symbol.asyncDispose]();
  expect(await last).toEqual([true, true, true]);
  await expect(table.range(0)).rejects.toThrow('has ended');
  await table[Symbol.asyncDispose]();
});

test('a thread that ends unexpectedly rejects all waiting calls and resolves `ended`', async () => {
  await using folder = await makeTempFolder();
  const threads: Worker[] = [];
  const hear = (thread: Worker) => threads.push(thread);
  process.on('worker', hear);
  await using table = await openOrderThread({
    folder: folder.path,
    environment: 'staging',
    unique: false,
  });
  process.off('worker', hear);
  const under = Array.from({ length: 50 }, () => table.insert(ORDERS));
  await threads[0]?.terminate();
  const outcomes = await Promise.allSettled(under);
  expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  expect((await table.ended).message).toContain('has ended');
  await expect(table.insert(ORDERS)).rejects.toThrow('has ended');
});

test('a file with a different table of the same name is refused with a remedy', async () => {
  await using folder = await makeTempFolder();
  const other = new DatabaseSync(path.join(folder.path, 'staging.sqlite'));
  other.exec('CREATE TABLE orders (x)');
  other.close();
  await expect(
    openOrderThread({ folder: folder.path, environment: 'staging', unique: true }),
  ).rejects.toMatchObject({
    code: 'sandbox-data-unusable',
    remedy: expect.stringContaining('--data'),
  });
});
