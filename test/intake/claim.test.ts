import { mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimFile, leftClaims } from '../../src/intake/claim.ts';
import { dropCopy, settleFile } from '../../src/intake/put-away.ts';
import type { ClaimedFile } from '../../src/order/batch.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const AT = new Date('2026-11-21T07:15:00Z');

async function drop(folder: string, name: string, text = 'x'): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

async function claim(folder: string, name: string, text?: string): Promise<ClaimedFile> {
  const claimed = await claimFile(await drop(folder, name, text), inboxSource(folder), AT);
  if (claimed === 'taken') throw new Error('taken');
  return claimed;
}

describe('claiming', () => {
  test('moves the file to a folder of its batch and keeps its name', async () => {
    await using folder = await makeTempFolder();
    const claimed = await claim(folder.path, 'orders 1.csv', 'text');
    expect(claimed.batch).toMatch(/^20261121T071500Z-inbox-orders-1-[0-9a-f]{8}$/);
    expect(claimed.path).toBe(path.join(folder.path, 'processing', claimed.batch, 'orders 1.csv'));
    expect(await readFile(claimed.path, 'utf8')).toBe('text');
    expect(await readdir(folder.path)).toEqual(['processing']);
  });

  test('lists what was claimed in one second by the time of its files, whatever their names', async () => {
    await using folder = await makeTempFolder();
    const claims = [
      await claim(folder.path, 'PO_30112026.csv'),
      await claim(folder.path, 'PO_01122026.csv'),
    ];
    for (const [at, { path: file }] of claims.entries()) await utimes(file, 1_000 + at, 1_000 + at);
    expect(await leftClaims(inboxSource(folder.path))).toEqual(claims);
    for (const [at, { path: file }] of claims.entries()) await utimes(file, 1_000 - at, 1_000 - at);
    expect(await leftClaims(inboxSource(folder.path))).toEqual(claims.toReversed());
  });

  test('is won by exactly one of several daemons', async () => {
    await using folder = await makeTempFolder();
    for (let round = 0; round < 20; round++) {
      const file = await drop(folder.path, `${round}.csv`);
      const results = await Promise.all(
        Array.from({ length: 8 }, () => claimFile(file, inboxSource(folder.path), AT)),
      );
      expect(results.filter((result) => result !== 'taken')).toHaveLength(1);
    }
    expect(await readdir(path.join(folder.path, 'processing'))).toHaveLength(20);
  });

  test('removes the done file with the file', async () => {
    await using folder = await makeTempFolder();
    const file = await drop(folder.path, 'orders.csv');
    await drop(folder.path, 'orders.csv.done');
    await claimFile(file, inboxSource(folder.path, { doneFile: true }), AT);
    expect(await readdir(folder.path)).toEqual(['processing']);
  });

  test('reports a missing inbox and does not create it', async () => {
    await using folder = await makeTempFolder();
    const inbox = path.join(folder.path, 'gone');
    await expect(
      claimFile(path.join(inbox, 'a.csv'), inboxSource(inbox), AT),
    ).rejects.toMatchObject({
      code: 'folder-missing',
    });
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe('claims left by a dead daemon', () => {
  test('are listed, the oldest first; old empty folders are removed', async () => {
    await using folder = await makeTempFolder();
    const source = inboxSource(folder.path);
    expect(await leftClaims(source)).toEqual([]);
    const first = await claim(folder.path, 'a.csv');
    const second = await claim(folder.path, 'b.csv');
    const processing = path.join(folder.path, 'processing');
    await mkdir(path.join(processing, 'young'));
    await mkdir(path.join(processing, 'old'));
    await utimes(path.join(processing, 'old'), 1, 1);
    expect(await leftClaims(source)).toEqual(
      [first, second].sort((a, b) => (a.batch < b.batch ? -1 : 1)),
    );
    expect((await readdir(processing)).sort()).toEqual([first.batch, second.batch, 'young'].sort());
  });
});

describe('settling a file', () => {
  test('moves the file to the folder of its day and removes the folder of its batch', async () => {
    await using folder = await makeTempFolder();
    const source = inboxSource(folder.path);
    const settled = await settleFile(
      await claim(folder.path, 'orders.csv', 'text'),
      source,
      'failed',
      AT,
    );
    expect(settled).toBe(path.join(folder.path, 'failed', '2026-11-21', 'orders.csv'));
    expect(await readFile(settled, 'utf8')).toBe('text');
    expect(await readdir(path.join(folder.path, 'processing'))).toEqual([]);
  });

  test('keeps two files of the same name', async () => {
    await using folder = await makeTempFolder();
    const source = inboxSource(folder.path);
    const first = await settleFile(
      await claim(folder.path, 'orders.csv.gz', 'one'),
      source,
      'done',
      AT,
    );
    const again = await claim(folder.path, 'orders.csv.gz', 'two');
    const second = await settleFile(again, source, 'done', AT);
    expect(path.basename(second)).toBe(`orders-${again.batch.slice(-8)}.csv.gz`);
    expect([await readFile(first, 'utf8'), await readFile(second, 'utf8')]).toEqual(['one', 'two']);
  });

  test('can be repeated on another day and after an interruption, and returns the same path', async () => {
    await using folder = await makeTempFolder();
    const source = inboxSource(folder.path);
    const claimed = await claim(folder.path, 'orders.csv');
    const settled = await settleFile(claimed, source, 'done', AT);
    expect(await settleFile(claimed, source, 'done', new Date('2026-11-22T00:00:01Z'))).toBe(
      settled,
    );
    await mkdir(path.dirname(claimed.path));
    await rename(settled, claimed.path);
    expect(await settleFile(claimed, source, 'done', AT)).toBe(settled);
    await expect(
      settleFile({ ...claimed, name: 'never.csv', path: '/nowhere/x' }, source, 'done', AT),
    ).rejects.toMatchObject({ code: 'file-missing' });
  });

  test('shortens, between characters, a name that leaves no room for a report next to it', async () => {
    await using folder = await makeTempFolder();
    const name = `${'ä'.repeat(125)}.csv`;
    const settled = await settleFile(
      await claim(folder.path, name),
      inboxSource(folder.path),
      'done',
      AT,
    );
    expect(path.basename(settled)).toMatch(/^ä+\.csv$/);
    expect(Buffer.byteLength(path.basename(settled))).toBeLessThanOrEqual(255);
  });

  test('removes the copy of an export, also when repeated', async () => {
    await using folder = await makeTempFolder();
    const claimed = await claim(folder.path, 'orders.csv');
    await dropCopy(claimed);
    await dropCopy(claimed);
    expect(await readdir(path.join(folder.path, 'processing'))).toEqual([]);
  });
});
